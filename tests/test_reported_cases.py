"""Reported cases about calls, approvals, API, MCP and audit, and the tests that give their expected answers."""

from typing import Final

import pytest

from tests.promises import ROOT, suite_of

LINES: Final = "tests/firewall/engine/exec_policy/test_real_lists.py"
JUDGE: Final = "tests/firewall/engine/exec_policy/test_judge.py"
LINT: Final = "tests/policies/test_lint.py"
MCP: Final = "tests/gateway/test_mcp_sessions.py"
FILTERS: Final = "tests/api/test_audit_filters.py"
TABLES: Final = "tests/policies/test_spreadsheets.py"

EXPORTS: Final = "tests/policies/test_current_exports.py"
UNREAD: Final = "tests/policies/test_unread_keys.py"

CASES: Final[dict[str, tuple[str, ...]]] = {
    # verdicts of policy
    "P01 rules for direct chats": (
        "tests/firewall/engine/test_direct_chats.py::test_the_entry_of_the_peer_holds_else_the_one_for_everybody",
        "tests/policies/test_direct_chats.py::test_rules_for_direct_chats_decide_as_they_are_imported_and_come_back",
    ),
    "P09 keys of senders that nobody has": (
        f"{TABLES}::test_a_key_that_no_sender_can_have_is_told_with_what_was_meant",
    ),
    # whole configurations
    "C04 keys that the release does not know": (
        f"{UNREAD}::test_what_the_release_does_not_know_is_named_and_kept",
        f"{UNREAD}::test_a_document_of_a_later_openclaw_is_imported_and_decided_by_the_newest_release",
        f"{EXPORTS}::test_keys_that_the_release_refuses_are_kept_here_and_left_out_of_an_export",
    ),
    "C06 an agent that was the default": (f"{EXPORTS}::test_a_default_marker_becomes_what_the_release_makes_of_it",),
    "C16 every session in a sandbox": ("tests/firewall/engine/test_sandbox_mode.py::test_the_mode_says_it",),
    "C17 servers that nobody knows here": (f"{EXPORTS}::test_a_server_without_a_source_is_named_until_it_has_one",),
    "C05 a file without agents": (
        f"{UNREAD}::test_a_file_without_agents_has_the_one_that_openclaw_takes_and_can_be_published",
    ),
    "C12 and C13 patterns of programs that admit too much, or nothing": (
        f"{LINT}::test_a_pattern_that_admits_every_program_is_named_however_it_is_written",
        f"{LINT}::test_a_program_pattern_that_can_match_no_file_is_named",
        f"{LINT}::test_a_command_in_the_place_of_a_program_is_named",
    ),
    "C15 rules in places that decide nothing": (
        f"{UNREAD}::test_a_rule_in_a_dead_place_is_a_mistake_that_names_the_right_one",
        f"{UNREAD}::test_a_misspelt_word_of_policy_is_a_mistake_that_names_the_right_one",
        f"{UNREAD}::test_the_review_names_what_a_draft_keeps_of_dead_rules",
    ),
    # command lines, and approvals of commands
    "E01 a script by its folder, and through a shell": (f"{LINES}::test_a_command_is_answered_as_its_owner_expects",),
    "E03 what bash knows without a file": (
        f"{JUDGE}::test_what_bash_knows_without_a_file_runs_in_bash_where_everything_runs",
        f"{JUDGE}::test_under_a_list_builtins_that_only_read_run_and_the_others_ask",
    ),
    "E06 patterns of arguments with many repetitions": (
        f"{LINES}::test_a_command_is_answered_as_its_owner_expects",
        f"{LINT}::test_a_pattern_of_many_repetitions_has_nothing_said_of_it",
        f"{LINT}::test_a_pattern_of_arguments_that_nothing_can_match_is_named",
    ),
    "E07 an agent's own rules before the defaults": (
        f"{LINES}::test_what_one_agent_is_given_holds_before_the_defaults_and_for_it_alone",
    ),
    "E08 pipes and chains of listed programs": (
        f"{LINES}::test_a_command_is_answered_as_its_owner_expects",
        f"{LINES}::test_what_agents_are_told_of_the_tool_is_true_of_pipes",
    ),
    "E09 a listed shell speaks for no line": (f"{LINES}::test_a_command_is_answered_as_its_owner_expects",),
    "E10 what of the approvals nobody reads": (
        f"{LINT}::test_what_of_the_approvals_nobody_reads_is_named_with_what_was_meant",
    ),
    "E11 answers that OpenClaw remembered": (
        f"{JUDGE}::test_a_remembered_answer_that_names_no_folder_admits_nothing",
        f"{JUDGE}::test_a_remembered_answer_admits_its_words_in_its_folder",
        f"{JUDGE}::test_an_answer_for_a_whole_line_admits_this_line_and_no_other",
        f"{LINT}::test_an_answer_that_openclaw_remembered_is_said_not_to_be_carried_over",
    ),
    "exec-unasked: listed programs that run others": (
        "tests/gateway/test_listed_programs.py::test_a_listed_program_runs_what_only_reads_and_asks_or_refuses_the_rest",
    ),
    # the approval queue, and the kill switch
    "A01 a request whose time is over": (
        "tests/api/test_approvals.py::test_an_answer_that_comes_too_late_is_refused",
        "tests/approvals/test_silence.py::test_without_one_silence_denies",
    ),
    "A03 similar requests on one card": (
        "tests/approvals/test_similar.py::test_similar_requests_are_one_card_with_their_number",
        "tests/api/test_approvals_many.py::test_similar_requests_are_listed_as_one_with_their_number",
    ),
    "A04 why a request offers no always": (
        "tests/gateway/test_grant_coverage.py::test_code_shells_and_wrappers_offer_no_always_and_say_why",
        "tests/gateway/test_grant_coverage.py::test_programs_read_why_a_request_offers_no_always",
    ),
    "A05 names of rules, teams and webhooks": (
        "tests/api/test_names.py::test_a_name_that_paths_cannot_carry_is_refused_by_field_and_rule",
        "tests/api/test_names.py::test_every_name_that_is_taken_in_can_be_read_changed_and_removed",
        "tests/api/test_names.py::test_what_an_earlier_version_let_in_is_still_reached",
        "tests/api/test_names.py::test_names_that_differ_in_capital_letters_alone_are_one_name",
    ),
    "A06 who may answer, however it is spelled": (
        "tests/test_names_alike.py::test_who_may_answer_is_decided_by_what_is_meant",
        "tests/test_names_alike.py::test_a_quorum_holds_for_every_spelling",
        "tests/test_names_alike.py::test_a_rule_limit_or_hook_of_a_misspelt_name_is_refused_with_what_was_meant",
    ),
    "A08 a waiting call whose token was taken away": (
        "tests/gateway/test_taken_away.py::test_a_call_of_a_revoked_token_is_withdrawn_and_the_card_says_so",
        "tests/gateway/test_taken_away.py::test_calls_of_a_deactivated_person_s_tokens_are_withdrawn",
    ),
    "A10 one reply with calls that run, wait and are denied": (
        "tests/gateway/test_turns_side_by_side.py::test_parallel_calls_meet_sequential_ones_are_alone_and_a_failure_is_its_own",
    ),
    "A12 a call while the switch is thrown": (
        "tests/gateway/test_cancelled_anywhere.py::test_calls_that_come_while_the_kill_switch_is_thrown_are_answered_and_on_record",
    ),
    "A13 names that stop something, and names that stop nothing": (
        "tests/api/test_halts.py::test_another_spelling_stops_what_it_means",
        "tests/api/test_halts.py::test_a_name_that_nothing_has_stops_nothing_and_says_so",
    ),
    # the ledger, and its exports
    "U01 cells that begin a formula": (
        f"{FILTERS}::test_no_cell_of_a_table_begins_a_formula",
        "tests/audit/test_export.py::test_a_spreadsheet_never_gets_a_formula",
    ),
    "U03 filters that do not exist": (
        "tests/api/test_unknown_members.py::test_every_method_of_every_path_refuses_an_unknown_parameter_and_an_unknown_member",
        f"{FILTERS}::test_what_finds_nothing_by_mistake_is_refused",
        f"{FILTERS}::test_an_export_refuses_the_same",
    ),
    "U04 an actor by name": (f"{FILTERS}::test_an_actor_is_found_by_the_name_that_people_see",),
    "U05 pages while calls come in": (f"{FILTERS}::test_pages_read_on_while_calls_come_in_give_each_entry_once",),
    "U06 filters that cannot be read": (
        f"{FILTERS}::test_what_finds_nothing_by_mistake_is_refused",
        f"{FILTERS}::test_a_limit_that_is_no_number_is_refused",
    ),
    "U08 hours that a clock leaves out or repeats": (
        "tests/console/test_audit.py::test_an_hour_that_a_clock_leaves_out_or_repeats_filters_as_any_other",
        "tests/console/test_audit.py::test_a_report_takes_the_day_of_a_change_of_clocks",
    ),
    "U09 people who were switched off": (
        f"{FILTERS}::test_who_was_switched_off_is_still_found_by_name",
        "tests/console/test_gate.py::test_a_person_who_was_switched_off_is_out_at_the_next_click",
    ),
    "U10 the filter and the search box": (f"{FILTERS}::test_the_filter_and_the_search_box_narrow_together",),
    # MCP, and programs
    "M01 any Accept, and none": (f"{MCP}::test_a_request_that_does_not_say_what_it_accepts_accepts_anything",),
    "M02 one page of tools": (f"{MCP}::test_a_cursor_that_was_never_given_is_an_error",),
    "M03 names and schemas of tools": (f"{MCP}::test_a_cursor_that_was_never_given_is_an_error",),
    "M05 batches, and the address with a slash": (
        f"{MCP}::test_a_batch_is_answered_in_one_list",
        f"{MCP}::test_the_address_with_a_slash_is_the_same_door",
    ),
    "M06 a decision judges params as a call does": (
        "tests/gateway/test_decisions_with_params.py::test_a_command_that_the_exec_policy_denies_is_denied",
        "tests/gateway/test_decisions_with_params.py::test_it_says_what_the_call_is_answered_then",
        "tests/gateway/test_unknown_members.py::test_it_is_named_with_what_was_meant",
    ),
    "M07 arguments as a text": (f"{MCP}::test_arguments_may_be_a_text_that_holds_an_object",),
    "M09 whole numbers that cannot be kept": (
        "tests/firewall/tools/test_numbers.py::test_what_would_be_changed_is_refused_with_its_place",
        "tests/firewall/tools/test_numbers.py::test_what_can_be_kept_is_kept",
    ),
    "M10 the document of the API": ("tests/api/test_openapi.py::test_it_is_valid_and_made_without_a_warning",),
    "M11 a token over its rate": ("tests/api/test_records.py::test_a_token_has_its_own_rate",),
    # pages
    "W01 a fragment without a session": (
        "tests/console/test_gate.py::test_a_fragment_without_a_session_reloads_the_page",
    ),
    "W03 the back button": (
        "tests/console/test_gate.py::test_the_back_button_gets_a_whole_page_that_no_browser_keeps",
    ),
    "W04 a double click": ("tests/console/test_submissions.py::test_a_double_click_makes_one",),
    "W05 two people change one record": (
        "tests/console/test_profiles.py::test_whoever_saves_second_is_told_of_fields_that_only_the_other_one_changed",
        "tests/console/test_profiles.py::test_a_save_that_does_not_say_what_it_changes_is_refused",
        "tests/journeys/test_two_admins.py::test_the_second_sees_the_other_version_and_resolves_it",
    ),
    # tables that programs send and read
    "S01 tables as spreadsheets save them": (
        "tests/policies/test_sender_import.py::test_a_mark_in_front_and_other_delimiters_are_read",
    ),
    "S02 columns without a name, and the hint of a delimiter": (
        f"{TABLES}::test_what_a_spreadsheet_adds_to_a_table_is_read_over",
    ),
    "S04 documents in other encodings": (
        f"{TABLES}::test_a_document_in_another_encoding_is_refused_by_the_name_of_that_encoding",
    ),
    "S06 the mark of UTF-8": (
        f"{TABLES}::test_a_table_begins_with_the_mark_of_utf_8_by_choice",
        f"{TABLES}::test_a_text_that_was_read_in_another_encoding_is_noticed",
        "tests/api/test_sender_tables.py::test_rules_of_an_agent_are_written_and_read",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_names_tests_that_exist_and_run(case: str) -> None:
    wrong = []
    for each in CASES[case]:
        path, _, name = each.partition("::")
        tests = suite_of(path) if (ROOT / path).is_file() else {}
        if tests.get(name, True):
            wrong.append((each, "is skipped" if name in tests else "does not exist"))

    assert (CASES[case] != (), wrong) == (True, [])

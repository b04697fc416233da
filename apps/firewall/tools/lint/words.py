"""Words that checks look for."""

from typing import Final


def words(text: str) -> frozenset[str]:
    """Read a list of words, separated by blanks."""
    return frozenset(text.split())


ACTIONS: Final = words(
    """
    accept add allocate analyze apply approve archive ask assign attach authorize ban block book browse build buy
    calculate call cancel capture change charge check classify clean clear click clone close collect combine comment
    commit compare compile complete compose compress compute configure confirm connect convert copy count crawl create
    cut decode decrypt delete deliver deny deploy describe detect diff disable disconnect dispatch download draw edit
    email embed enable encode encrypt end enqueue estimate evaluate exec execute expand explain export extract fetch
    fill filter find finish flag focus follow forget format forward generate get grant group hash hide history import
    index info insert inspect install invite invoke join kill label launch link list listen load lock log login logout
    look lookup make map mark match measure merge migrate modify monitor mount move mute navigate notify open order
    parse paste patch pause pay pin ping play plan poll post predict press preview print process publish pull purge
    push put query queue quote rank rate read reboot receive record redeem refresh refund register reject release
    reload remind remove rename render renew reopen reorder repeat replace reply report request reschedule reserve
    reset resize resolve restart restore resume retry return reveal revert review revoke rotate route run save scale
    scan schedule scrape screenshot scroll search select send set share show shut sign snapshot solve sort spawn
    split start stat status stop store stream submit subscribe suggest summarize summary suspend swap switch sync tag
    tail test toggle track train transcribe transfer transform translate trigger trim type unban unblock undo uninstall
    unlink unlock unmute unpin unsubscribe update upgrade upload upsert use validate verify view vote wait wake watch
    weigh withdraw write yield answer greet say tell thank turn dim ring draft teach learn guess roll pick
    """
)
"""What a tool may do, as its name says it."""

EMPTY_WORDS: Final = words(
    """
    tool tools thing things stuff something anything everything helper util utils misc foo bar baz tmp temp
    function func method handler my new do perform general generic various
    """
)
"""Words that a name may hold and that say nothing."""

FILLERS: Final = words("a an and for from in is it of on the this to tool that with function param parameter value")
"""Words that do not make a description more than the name."""

VAGUE_PARAMS: Final = words("data value input arg args param params payload info obj object stuff")
"""Names of params that say nothing."""

NO_SECRETS: Final = words("seed sig pin pan sid signature page_token next_page_token cursor_token continuation_token")
"""Names that the masker takes for secrets, to be safe, and that a reader would not."""

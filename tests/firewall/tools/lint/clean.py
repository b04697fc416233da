"""Fifty definitions as a careful author writes them: nothing is to be said about any of them."""

from typing import Any


def text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def whole(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": description, **more}


def share(description: str) -> dict[str, Any]:
    return {"type": "number", "description": description}


def flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def choice(description: str, *values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values), "description": description}


def many(description: str, items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


def tool(name: str, description: str, *required: str, **properties: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = list(required)
    return {"name": name, "description": description, "parameters": parameters}


LINE = {"type": "string"}
CLEAN: list[dict[str, Any]] = [
    tool(
        "get_weather",
        "Read the current weather of a city: temperature, humidity and wind.",
        "city",
        city=text("City and country, such as Oslo, Norway"),
        unit=choice("Scale of the temperature", "celsius", "fahrenheit"),
    ),
    tool(
        "send_email",
        "Send one plain-text message to up to ten people.",
        "to",
        "subject",
        "body",
        to=many("Addresses of the people who get it", LINE),
        subject=text("Line shown in the inbox"),
        body=text("The whole message"),
    ),
    tool(
        "db_query",
        "Run one read-only SQL statement and return up to a thousand rows.",
        "statement",
        statement=text("A SELECT statement of PostgreSQL"),
        max_rows=whole("Rows to return at most"),
    ),
    tool(
        "search_web",
        "Find pages on the public web that match some words.",
        "query",
        query=text("Words to look for"),
        limit=whole("Pages to return, ten when absent"),
    ),
    tool(
        "create_issue",
        "Open an issue in a repository that the connected account can write to.",
        "repo",
        "title",
        repo=text("Owner and repository, such as acme/site"),
        title=text("One line that sums the problem up"),
        labels=many("Labels that exist already", LINE),
    ),
    tool(
        "close_ticket",
        "Close a support ticket and tell its author why.",
        "ticket_id",
        "reason",
        ticket_id=text("Number of the ticket"),
        reason=choice("Why it is closed", "solved", "duplicate", "no_answer"),
    ),
    tool(
        "list_files",
        "List files and folders below one folder, newest first.",
        "folder",
        folder=text("Folder to look into, relative to the workspace"),
        recursive=flag("Look into folders inside it too"),
    ),
    tool(
        "translate_text",
        "Translate a text into another language and keep its formatting.",
        "source_text",
        "language",
        source_text=text("The text to translate"),
        language=text("Target language as a code, such as de"),
    ),
    tool(
        "resize_image",
        "Make a copy of a picture with other dimensions.",
        "image_id",
        "width",
        image_id=text("Which picture to copy"),
        width=whole("New width in pixels"),
        height=whole("New height in pixels, in proportion when absent"),
    ),
    tool(
        "calendar_find_slot",
        "Find the first free half hour that several people share.",
        "people",
        people=many("E-mail addresses of everybody who takes part", LINE),
        earliest=text("Day to begin with, as 2026-11-22"),
    ),
    tool(
        "book_meeting",
        "Put a meeting into the calendars of all who take part.",
        "start",
        "people",
        start=text("Begin of the meeting as date and time with its zone"),
        people=many("Addresses of those invited", LINE),
        minutes=whole("How long it lasts"),
    ),
    tool(
        "convert_currency",
        "Convert an amount of money at today's rate of the central bank.",
        "amount",
        "source",
        "target",
        amount=share("How much money to convert"),
        source=text("Currency it is in, as EUR"),
        target=text("Currency wanted, as USD"),
    ),
    tool(
        "summarize_document",
        "Write a summary of a stored document in a few sentences.",
        "document_id",
        document_id=text("Identity of a document from search_documents"),
        sentences=whole("Length of the summary"),
    ),
    tool(
        "search_documents",
        "Search titles and bodies of all documents that the caller may read.",
        "query",
        query=text("Words or a phrase to look for"),
        owner=text("Only documents that this person wrote"),
    ),
    tool(
        "deploy_release",
        "Roll a built release out to one environment, step by step.",
        "version",
        "environment",
        version=text("Version to roll out, as 4.2.0"),
        environment=choice("Where it goes", "staging", "production"),
        dry_run=flag("Show the steps and change nothing"),
    ),
    tool(
        "restart_service",
        "Restart one service and wait until it answers again.",
        "service",
        service=text("Name of the service as in list_services"),
    ),
    tool("list_services", "List every service with its state and its last restart."),
    tool(
        "read_sensor",
        "Read the latest value of one sensor in the building.",
        "sensor_id",
        sensor_id=text("Identity printed on the sensor"),
    ),
    tool(
        "set_thermostat",
        "Set the wanted temperature of one room.",
        "room",
        "degrees",
        room=text("Name of the room on the floor plan"),
        degrees=share("Temperature in degrees Celsius"),
    ),
    tool(
        "post_message",
        "Post a message in a chat channel as the assistant.",
        "channel",
        "message",
        channel=text("Channel without the leading number sign"),
        message=text("Text with the usual formatting"),
    ),
    tool(
        "upload_file",
        "Store a file of the workspace in the shared drive.",
        "path",
        "folder",
        path=text("File in the workspace"),
        folder=text("Folder of the shared drive"),
    ),
    tool(
        "download_report",
        "Fetch a finished report as a spreadsheet.",
        "report_id",
        report_id=text("Identity that create_report returned"),
    ),
    tool(
        "create_report",
        "Start building a report; it is ready after some minutes.",
        "kind",
        kind=choice("Which report", "sales", "stock", "returns"),
        month=text("Month it is about, as 2026-10"),
    ),
    tool(
        "validate_address",
        "Check a postal address and correct its spelling.",
        "street",
        "city",
        street=text("Street and house number"),
        city=text("Town or city"),
        postcode=text("Postal code, if known"),
    ),
    tool(
        "track_parcel",
        "Tell where a parcel is and when it will arrive.",
        "number",
        number=text("Tracking number on the receipt"),
    ),
    tool(
        "compare_prices",
        "Compare what several shops ask for one product.",
        "product",
        product=text("Name or article number of the product"),
        shops=many("Shops to ask, all when absent", LINE),
    ),
    tool(
        "reserve_table",
        "Reserve a table in a restaurant for one evening.",
        "restaurant",
        "guests",
        restaurant=text("Name and street of the restaurant"),
        guests=whole("How many people come"),
    ),
    tool(
        "generate_invoice",
        "Make an invoice from the hours of a month.",
        "customer",
        customer=text("Number of the customer"),
        month=text("Month as 2026-10"),
        lines=many(
            "Positions of the invoice",
            {
                "type": "object",
                "properties": {"text": text("What was done"), "hours": share("Hours it took")},
                "required": ["text", "hours"],
            },
        ),
    ),
    tool(
        "approve_expense",
        "Approve an expense claim on behalf of the caller.",
        "claim_id",
        claim_id=text("Identity of the claim"),
        note=text("Remark for the person who claims"),
    ),
    tool(
        "classify_image",
        "Name what is to be seen in a picture, with how sure that is.",
        "image_id",
        image_id=text("Which picture to look at"),
        labels=many("Names to choose from", LINE),
    ),
    tool(
        "extract_table",
        "Read a table out of a page of a scanned document.",
        "document_id",
        "page",
        document_id=text("The scanned document"),
        page=whole("Page number, from one"),
    ),
    tool(
        "memory_search",
        "Search notes of earlier conversations with this person.",
        "query",
        query=text("What the note is about"),
    ),
    tool("session_status", "Tell which model runs this session and what it has used so far."),
    tool(
        "subscribe_alert",
        "Send an alert when a figure leaves its usual range.",
        "metric",
        metric=text("Name of the figure"),
        above=share("Alert above this value"),
        below=share("Alert below this value"),
    ),
    tool(
        "rotate_certificate",
        "Replace the certificate of one host before it ends.",
        "host",
        host=text("Full name of the host"),
    ),
    tool(
        "query_logs",
        "Find lines in the logs of the last seven days.",
        "expression",
        expression=text("Words that a line must hold"),
        since=text("Begin of the search, as 2026-11-22T10:00:00Z"),
    ),
    tool(
        "merge_branch",
        "Merge one branch into another and push the result.",
        "source",
        "target",
        source=text("Branch to merge"),
        target=text("Branch that receives it"),
    ),
    tool(
        "run_tests",
        "Run the tests of the project and return those that failed.",
        folder=text("Only tests below this folder"),
    ),
    tool(
        "format_code",
        "Format source files in place with the project's rules.",
        "paths",
        paths=many("Files to format", LINE),
    ),
    tool(
        "explain_error",
        "Explain an error message with causes and remedies.",
        "message",
        message=text("The message with its traceback"),
    ),
    tool(
        "play_music",
        "Play a piece of music on one speaker.",
        "title",
        title=text("Title, artist or album"),
        speaker=text("Name of the speaker"),
    ),
    tool(
        "measure_distance",
        "Measure the way between two places by road.",
        "origin",
        "destination",
        origin=text("Where the way begins"),
        destination=text("Where it ends"),
    ),
    tool(
        "assign_task",
        "Give a task of the board to one person.",
        "task_id",
        "person",
        task_id=text("Number of the task"),
        person=text("Name of the person as on the board"),
    ),
    tool(
        "archive_project",
        "Archive a finished project: it can be read and no longer changed.",
        "project",
        project=text("Short name of the project"),
    ),
    tool(
        "export_contacts",
        "Write all contacts of a group into a file of the workspace.",
        "group",
        group=text("Name of the group"),
        layout=choice("Form of the file", "csv", "vcard"),
    ),
    tool("notify_team", "Send a short notice to everybody on call.", "notice", notice=text("What they need to know")),
    tool(
        "query_weather_cn",
        "查询指定城市的当前天气，包括温度、湿度和风速，仅支持中国主要城市。",
        "city",
        city=text("城市名称，例如北京或上海"),
    ),
    tool(
        "send_sms_cn",
        "向一个手机号码发送短信，内容不超过七十个字。",
        "number",
        "content",
        number=text("接收短信的手机号码"),
        content=text("短信的正文内容"),
    ),
    tool(
        "files__read_page",
        "Read one page of a long text file of the server.",
        "path",
        path=text("File below the folder that the server serves"),
        page=whole("Page to read, from one"),
    ),
    {
        **tool(
            "charge_card",
            "Charge a stored card once and return the receipt.",
            "card_id",
            "cents",
            card_id=text("Identity of the stored card"),
            cents=whole("Amount in cents"),
        ),
        "version": "2.1.0",
        "permissions": ["payments:charge"],
        "idempotent": True,
        "retry": {"max_retries": 2},
        "dependencies": ["httpx>=0.27"],
        "sensitive": ["card_id"],
        "config": {"api_key": {"$secret": "payments"}},
        "examples": [{"parameters": {"card_id": "c-17", "cents": 1250}, "description": "a small charge"}],
    },
]

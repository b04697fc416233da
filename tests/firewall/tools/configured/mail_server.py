"""A mail server on loopback that keeps what it is given and refuses what a test wants refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext

ANSWERS = {"auth": "235 welcome", "quit": "221 bye"}


@dataclass
class MailServer:
    """What it was told: envelopes and mails. `refuses` maps how a command begins, in lower case, to its answer."""

    port: int = 0
    refuses: dict[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)
    hangs_up_after_data: bool = False

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())
            await writer.drain()

        await say("220 mail.test")
        while line := (await reader.readline()).decode().rstrip("\r\n"):
            self.commands.append(line)
            refusal = next((answer for begin, answer in self.refuses.items() if line.lower().startswith(begin)), None)
            if refusal is not None:
                await say(refusal)
            elif line.lower().startswith("ehlo"):
                await say("250-mail.test\r\n250 AUTH PLAIN")
            elif line.lower() == "data":
                await say("354 go on")
                mail = (await reader.readuntil(b"\r\n.\r\n")).decode().removesuffix(".\r\n")
                if self.hangs_up_after_data:
                    break
                self.mails.append(mail)
                await say("250 2.0.0 kept as 7")
            else:
                await say(ANSWERS.get(line.lower().partition(" ")[0], "250 ok"))
        writer.close()


@asynccontextmanager
async def mail_server(*, tls: SSLContext | None = None) -> AsyncIterator[MailServer]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    server = MailServer()
    listening = await asyncio.start_server(server.talk, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()

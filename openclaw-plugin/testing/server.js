// A server on loopback that answers as a test tells it to, and keeps what it was sent.
import { once } from "node:events";
import { createServer } from "node:http";

export const TOKEN = "oca_01hxsecretsecretsecret_ffffffffffffffffffffffffffffffff";

export async function fakeServer(answer) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString("utf8");
    const path = request.url.replace("/api/v1/openclaw", "");
    const seen = { method: request.method, path, headers: request.headers, body: text ? JSON.parse(text) : undefined };
    requests.push(seen);
    const [status, body] = (await answer(seen, requests.length)) ?? [404, { message: "no" }];
    response.writeHead(status, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close };
}

export function newState() {
  return { boot: "boot0001", calls: new Map(), ended: new Set(), told: new Set(), unasked: 0 };
}

export function keptLog() {
  const lines = [];
  return { lines, warn: (text) => lines.push(text), info: (text) => lines.push(text) };
}

export async function until(holds) {
  for (let turn = 0; turn < 400; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("it did not come to pass");
}

// The beginning of the realm that code runs in: the one thing it sees of us. It is evaluated there, before the code.
//
// Nothing of another realm may reach the code: what comes from the harness are strings and numbers, and what a function
// of the harness throws stays in here. And nothing that the code changes may change the bridge: everything used later
// is taken now, and no array is walked, no prototype asked, no inherited setter met.
(function (send, note, settle) {
  "use strict";
  const { parse, stringify } = JSON;
  const { apply, defineProperty } = Reflect;
  const { freeze } = Object;
  const TheError = Error;
  const ThePromise = Promise;
  const { then } = Promise.prototype;
  const text = String;
  const waiting = { __proto__: null };
  const REFUSED = {
    __proto__: null,
    too_many_calls: "this code has made as many calls as it may",
    call_too_large: "what this code sends with its calls is too large",
  };

  // without a limit that is a number no stack is written, and nobody of the harness's realm is asked to write it
  defineProperty(TheError, "stackTraceLimit", { value: undefined, writable: false, configurable: false });

  function hide(object, name, value) {
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  }

  function failure(code, message, details) {
    const error = new TheError(message);
    hide(error, "name", "ToolError");
    hide(error, "code", code);
    if (details !== undefined) hide(error, "details", details);
    return error;
  }

  function handOver(operation, fields) {
    let answer = "call_too_large";
    try {
      answer = send(operation, fields);
    } catch {
      // it is an error of another realm
    }
    if (typeof answer === "string") throw failure(answer, REFUSED[answer]);
    return answer;
  }

  function ask(operation, fields) {
    return new ThePromise((resolve, reject) => {
      const written = stringify(fields);
      waiting[handOver(operation, written)] = { __proto__: null, resolve, reject };
    });
  }

  function answer(number, isRefused, written) {
    const { resolve, reject } = waiting[number];
    delete waiting[number];
    try {
      const value = parse(written);
      if (isRefused) reject(failure(value.code, value.message, value.details));
      else resolve(value);
    } catch (error) {
      reject(error);
    }
  }

  function wordsOfError(error) {
    const name = text(error.name);
    const message = text(error.message);
    return message === "" ? name : `${name}: ${message}`;
  }

  function words(value) {
    try {
      if (typeof value === "string") return value;
      if (value instanceof TheError) return wordsOfError(value);
      if (typeof value !== "object" || value === null) return text(value);
      return text(stringify(value));
    } catch {
      return "[this cannot be shown]";
    }
  }

  function speaker(level) {
    return freeze((...values) => {
      let line = "";
      for (let place = 0; place < values.length; place += 1) line += (place === 0 ? "" : " ") + words(values[place]);
      try {
        note(level, line);
      } catch {
        // it is an error of another realm
      }
    });
  }

  function end(how, written) {
    try {
      settle(how, written);
    } catch {
      // it is an error of another realm
    }
  }

  function finish(value) {
    let written;
    try {
      written = value === undefined ? "null" : stringify(value);
    } catch (error) {
      end("no_json", words(error));
      return;
    }
    if (written === undefined) end("no_json", `a ${typeof value} is no JSON`);
    else end("returned", written);
  }

  function fail(error) {
    end("threw", words(error));
  }

  function start(body) {
    try {
      apply(then, body(), [finish, fail]);
    } catch (error) {
      fail(error);
    }
  }

  const tools = freeze({
    search: freeze((query, options) => ask("search", { __proto__: null, query, options })),
    describe: freeze((id) => ask("describe", { __proto__: null, id })),
    call: freeze((id, args) => ask("call", { __proto__: null, id, args })),
  });
  const seen = {
    __proto__: null,
    openclaw: freeze({ tools }),
    console: freeze({ log: speaker("log"), warn: speaker("warn"), error: speaker("error") }),
  };
  for (const name of ["openclaw", "console"]) {
    defineProperty(globalThis, name, { value: seen[name], writable: false, enumerable: false, configurable: false });
  }
  return { start, answer };
});

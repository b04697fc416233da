/* unsaved edits: leaving a page with some asks first, and saving one form never resets another.
   A form is edited when it holds other values than before a person first touched it. Forms that are saved by leaving the
   page (plain posts), and parts that htmx swaps, take the edits of all other forms along. A form opts out by
   data-unsaved="off"; forms with a password are never kept. */
(function () {
  "use strict";
  const words = document.getElementById("unsaved-words")?.dataset;
  const STORE = "openclaw-unsaved", KEPT_MS = 30 * 60 * 1000, LEAVING_MS = 1000;
  const UNTRACKED = new Set(["hidden", "submit", "button", "reset", "image", "password", "file"]);
  if (!words) { try { sessionStorage.removeItem(STORE); } catch { /* no storage: nothing was kept */ } return; }

  const before = new WeakMap(), sending = new WeakSet();
  let leaving = null;
  const controls = form => [...form.elements].filter(each => each.name && !each.matches(":disabled") && !UNTRACKED.has(each.type) && "value" in each);
  const isPost = form => (form.getAttribute("method") || "").toLowerCase() === "post";
  const isTracked = form => form instanceof HTMLFormElement && isPost(form) && form.dataset.unsaved !== "off"
    && !form.hasAttribute("data-autosend") && !form.querySelector("input[type=password]") && controls(form).length > 0;
  const isChoice = each => each.type === "checkbox" || each.type === "radio";
  const valueOf = each => isChoice(each) ? each.checked : each.multiple ? [...each.selectedOptions].map(option => option.value) : each.value;
  const valuesOf = form => controls(form).map(each => [each.name, isChoice(each) ? each.value : "", valueOf(each)]);
  const written = form => JSON.stringify(valuesOf(form));
  const partOf = form => form.querySelector("input[type=hidden][name=part]")?.value || ""; // form.action may be a control
  const pathOf = form => new URL(form.getAttribute("action") || location.href, location.href).pathname;
  const keyOf = form => `${pathOf(form)} ${form.getAttribute("id")} ${partOf(form)} ${[...new Set(controls(form).map(each => each.name))].join(" ")}`;
  const isEdited = form => before.has(form) && !sending.has(form) && written(form) !== before.get(form);
  const edited = but => [...document.forms].filter(form => form !== but && before.has(form) && isTracked(form) && isEdited(form));
  const servedOf = each => isChoice(each) ? each.defaultChecked : each instanceof HTMLSelectElement ? servedOption(each) : each.defaultValue;
  function servedOption(select) {
    const served = [...select.options].filter(option => option.defaultSelected).map(option => option.value);
    return select.multiple ? served : served.at(-1) ?? select.options[0]?.value ?? "";
  }

  /* what a form held before it was touched: taken once, before the first change */
  function remember(event) {
    const form = event.target.form || event.target.closest?.("form");
    if (form && isTracked(form) && !before.has(form)) before.set(form, written(form));
  }
  ["focusin", "pointerdown", "keydown", "beforeinput"].forEach(name => document.addEventListener(name, remember, true));
  /* a change that nobody's hand announced, by a script or a tool: what the server sent is what was there before */
  ["input", "change"].forEach(name => document.addEventListener(name, event => {
    const form = event.target.form;
    if (form && isTracked(form) && !before.has(form)) before.set(form, JSON.stringify(controls(form).map(each => [each.name, isChoice(each) ? each.value : "", servedOf(each)])));
  }, true));
  const markEdited = form => before.set(form, "");
  /* what was refused comes back filled in, and is not saved yet */
  const refused = root => root.querySelectorAll?.("form").forEach(form => { if (isTracked(form) && form.querySelector("[aria-invalid=true], .note.deny[role=alert]")) markEdited(form); });

  addEventListener("beforeunload", event => {
    if (leaving || !edited(null).length) return;
    event.preventDefault();
    event.returnValue = "";
  });

  function fill(form, values) {
    const left = [...values];
    for (const each of controls(form)) {
      const at = left.findIndex(([name, choice]) => name === each.name && choice === (isChoice(each) ? each.value : ""));
      if (at < 0) continue;
      const [[, , value]] = left.splice(at, 1);
      if (isChoice(each)) each.checked = value;
      else if (each.multiple) [...each.options].forEach(option => { option.selected = value.includes(option.value); });
      else each.value = value;
    }
    controls(form).forEach(each => each.dispatchEvent(new Event("change", { bubbles: true })));
  }
  function tell(form) {
    if (!form.querySelector("[data-kept]")) {
      const note = document.createElement("p");
      note.className = "hint c-ask";
      note.dataset.kept = "";
      note.setAttribute("role", "status");
      note.textContent = words.kept;
      form.prepend(note);
    }
    window.openclaw?.say(words.kept);
  }
  const copy = form => ({ key: keyOf(form), values: valuesOf(form), base: before.get(form), form });
  function putBack(copies) {
    for (const kept of copies) {
      const form = kept.form?.isConnected ? kept.form : [...document.forms].find(each => isTracked(each) && keyOf(each) === kept.key);
      if (!form || written(form) === JSON.stringify(kept.values)) { if (form) before.set(form, kept.base); continue; }
      before.set(form, written(form));
      fill(form, kept.values);
      tell(form);
    }
  }

  /* a plain post loads the page anew: the other forms' edits wait in this tab until their page is back */
  document.addEventListener("submit", event => {
    if (event.defaultPrevented || !isPost(event.target)) return;
    leaving = event.target;
    setTimeout(() => { leaving = null; }, LEAVING_MS);
    const copies = edited(event.target).map(form => ({ ...copy(form), form: null }));
    if (!copies.length) return;
    try { sessionStorage.setItem(STORE, JSON.stringify({ at: Date.now(), copies })); } catch { /* no storage: they are lost with the page */ }
  });
  function takeStored() {
    try {
      const stored = JSON.parse(sessionStorage.getItem(STORE) || "null");
      if (!stored) return;
      if (Date.now() - stored.at > KEPT_MS) { sessionStorage.removeItem(STORE); return; }
      const here = new Set([...document.forms].filter(isTracked).map(keyOf));
      const mine = stored.copies.filter(kept => here.has(kept.key)), others = stored.copies.filter(kept => !here.has(kept.key));
      if (others.length) sessionStorage.setItem(STORE, JSON.stringify({ at: stored.at, copies: others })); else sessionStorage.removeItem(STORE);
      putBack(mine);
    } catch { /* no storage, or not ours */ }
  }

  /* sent after the session had ended: the server kept it for the person who typed it. The version that was seen then
     goes along, so that what somebody saved meanwhile is a conflict and not lost. */
  function takeSent() {
    const data = document.getElementById("kept-form-data");
    if (!data) return;
    const sent = JSON.parse(data.textContent), names = new Set(sent.fields.map(([name]) => name));
    const part = new Map(sent.fields).get("part") || "";
    const alike = [...document.forms].filter(form => isPost(form) && pathOf(form) === sent.action && partOf(form) === part);
    const form = alike.find(each => controls(each).some(control => names.has(control.name)));
    if (!form) return;
    before.set(form, written(form));
    const all = name => sent.fields.filter(each => each[0] === name).map(each => each[1]);
    const left = new Map([...names].map(name => [name, all(name)]));
    fill(form, controls(form).filter(each => isChoice(each) || names.has(each.name)).map(each => {
      if (isChoice(each)) return [each.name, each.value, all(each.name).includes(each.value)];
      return [each.name, "", each.multiple ? all(each.name) : left.get(each.name).shift() ?? ""];
    }));
    const version = form.querySelector("input[type=hidden][name=version]");
    if (version && names.has("version")) version.value = all("version")[0];
    form.scrollIntoView({ block: "center" });
    tell(form);
  }

  /* htmx: the form that is sent counts as saved once the answer says so; what is swapped beside it keeps its edits */
  const formOf = ctx => { const source = ctx?.sourceElement; return source instanceof Element ? source.closest("form") || source.form || null : null; };
  /* a part that is asked for after the session ended would load the page anew, as the sign-in page: edits stay, and a note says how they are kept */
  document.addEventListener("htmx:before:response", event => {
    const ctx = event.detail?.ctx;
    if (ctx?.response?.status !== 401 || ctx.request?.method !== "GET" || !edited(null).length) return;
    event.preventDefault();
    window.openclaw.flash("ask", words.signedOut);
  });
  const isSave = (ctx, form) => form && ctx.request?.method === "POST" && new URL(ctx.request.action || location.href, location.href).pathname === pathOf(form);
  let copies = [];
  document.addEventListener("htmx:before:request", event => { const form = formOf(event.detail?.ctx); if (isSave(event.detail?.ctx, form)) sending.add(form); });
  document.addEventListener("htmx:before:swap", event => {
    const form = formOf(event.detail?.ctx);
    copies = edited(isSave(event.detail?.ctx, form) ? form : null).map(copy);
  });
  document.addEventListener("htmx:after:swap", () => { putBack(copies); copies = []; });
  document.addEventListener("htmx:finally:request", event => {
    const ctx = event.detail?.ctx, form = formOf(ctx);
    if (!isSave(ctx, form)) return;
    sending.delete(form);
    if (form.isConnected && ctx.response?.status < 400) before.set(form, written(form));
    else refused(document);
  });

  refused(document);
  takeStored();
  takeSent();
})();

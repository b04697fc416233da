/* chips: turns a textarea of names into chips with suggestions. The textarea stays the value of the form, so that the
   form works without this script. <textarea data-chips data-state-from="id" data-vocabulary="id">; the element of
   data-state-from holds JSON in data-state: live (names of the live publication or null), warned, counts. */
(function () {
  "use strict";
  const texts = document.getElementById("chip-words")?.dataset;
  if (!texts) return;
  const SHOWN = 8, BREAKS = /[\n\r,]+/;
  const words = {};
  const vocabulary = id => words[id] ??= JSON.parse(document.getElementById(id)?.textContent || "[]");
  const make = (tag, css, text) => {
    const node = document.createElement(tag);
    if (css) node.className = css;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const shown = name => name.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, letter => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
  function icon(name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "i i-s");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `${texts.icons}#i-${name}`);
    svg.append(use);
    return svg;
  }

  class Field {
    constructor(area) {
      this.area = area;
      this.isFixed = area.matches(":disabled");
      this.at = -1;
      this.box = make("div", "chips");
      this.input = make("input");
      this.list = make("div", "pop chip-list");
      this.list.id = `${area.id}-list`;
      this.list.setAttribute("role", "listbox");
      this.list.setAttribute("aria-label", texts.suggestions);
      this.list.hidden = true;
      const attributes = { id: `${area.id}-input`, role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.id };
      for (const [name, value] of Object.entries(attributes)) this.input.setAttribute(name, value);
      if (area.getAttribute("aria-describedby")) this.input.setAttribute("aria-describedby", area.getAttribute("aria-describedby"));
      const label = document.querySelector(`label[for="${CSS.escape(area.id)}"]`);
      if (label) label.htmlFor = this.input.id;
      if (this.isFixed) this.input.disabled = true;
      area.hidden = true;
      area.parentElement.querySelectorAll(".script-less").forEach(hint => { hint.hidden = true; });
      area.after(this.box, this.list);
      this.box.append(this.input);
      this.listen();
      this.draw();
    }
    get names() { return [...new Set(this.area.value.split(BREAKS).map(name => name.trim()).filter(Boolean))]; }
    get state() { return JSON.parse(document.getElementById(this.area.dataset.stateFrom)?.dataset.state || "{}"); }
    set(names) {
      this.area.value = [...new Set(names)].join("\n");
      this.draw();
      this.area.dispatchEvent(new Event("change", { bubbles: true }));
    }
    add(text) {
      const wanted = text.split(BREAKS).map(name => name.trim()).filter(Boolean);
      this.input.value = "";
      this.close();
      if (wanted.length) this.set([...this.names, ...wanted]);
    }
    draw() {
      const { live = null, warned = [], counts = {} } = this.state;
      const names = this.names;
      const chips = names.map(name => this.chip(name, live && !live.includes(name) ? "add" : "", warned.includes(name), counts[name]));
      if (live) chips.push(...live.filter(name => !names.includes(name)).map(name => this.chip(name, "del")));
      this.box.querySelectorAll(".chip").forEach(chip => chip.remove());
      this.box.prepend(...chips);
      this.input.placeholder = names.length ? "" : this.area.dataset.placeholder || "";
      this.drawn = document.getElementById(this.area.dataset.stateFrom)?.dataset.state;
    }
    chip(name, kind, isWarned, count) {
      const chip = make("span", `chip ${isWarned ? "warn" : kind}`.trim());
      chip.append(make("span", "", shown(name)));
      if (kind) chip.append(make("span", "visually-hidden", kind === "add" ? texts.added : texts.removed));
      const known = count ?? vocabulary(this.area.dataset.vocabulary).find(word => word.word === name)?.count;
      if (known !== undefined && (known !== 1 || name.includes("*") || name.includes(":"))) chip.append(make("small", "", texts.tools.replace("{number}", known)));
      if (this.isFixed) { chip.classList.add("static"); return chip; }
      const button = make("button");
      button.type = "button";
      button.setAttribute("aria-label", (kind === "del" ? texts.restore : texts.remove).replace("{name}", shown(name)));
      button.append(icon(kind === "del" ? "arrow-back-up" : "x"));
      button.addEventListener("click", () => {
        this.set(kind === "del" ? [...this.names, name] : this.names.filter(other => other !== name));
        this.input.focus();
      });
      chip.append(button);
      return chip;
    }

    /* suggestions */
    found() {
      const typed = this.input.value.trim().toLowerCase(), taken = new Set(this.names);
      const rank = word => (word.word.toLowerCase().startsWith(typed) ? 0 : word.word.toLowerCase().includes(`:${typed}`) ? 1 : 2);
      return vocabulary(this.area.dataset.vocabulary).filter(word => !taken.has(word.word) && word.word.toLowerCase().includes(typed))
        .map((word, order) => ({ word, order })).sort((a, b) => rank(a.word) - rank(b.word) || a.order - b.order).slice(0, SHOWN).map(each => each.word);
    }
    /* what Enter takes where nothing is marked: the only name that begins so, unless the text is a name itself */
    meant() {
      const typed = this.input.value.trim(), found = this.found();
      const isWhole = /[*:]/.test(typed) || vocabulary(this.area.dataset.vocabulary).some(word => word.word === typed);
      const begun = found.filter(word => word.word.toLowerCase().startsWith(typed.toLowerCase()));
      return !isWhole && begun.length === 1 ? begun[0].word : this.input.value;
    }
    open() {
      const found = this.found();
      this.list.replaceChildren(...found.map((word, at) => {
        const option = make("button", "opt");
        option.type = "button";
        option.id = `${this.list.id}-${at}`;
        option.tabIndex = -1;
        option.setAttribute("role", "option");
        option.dataset.word = word.word;
        option.append(icon(word.icon), make("span", "mono", shown(word.word)), make("span", "end", word.note));
        option.addEventListener("pointerdown", event => event.preventDefault());
        option.addEventListener("click", () => { this.add(word.word); this.input.focus(); });
        return option;
      }));
      this.list.hidden = !found.length;
      this.input.setAttribute("aria-expanded", String(found.length > 0));
      this.mark(-1);
      window.openclaw?.say(texts.found.replace("{number}", found.length));
    }
    close() {
      this.list.hidden = true;
      this.input.setAttribute("aria-expanded", "false");
      this.mark(-1);
    }
    mark(at) {
      this.at = at;
      [...this.list.children].forEach((option, number) => option.setAttribute("aria-selected", String(number === at)));
      const option = this.list.children[at];
      if (option) { this.input.setAttribute("aria-activedescendant", option.id); option.scrollIntoView({ block: "nearest" }); } else this.input.removeAttribute("aria-activedescendant");
    }
    listen() {
      this.box.addEventListener("click", event => { if (event.target === this.box) this.input.focus(); });
      this.input.addEventListener("input", () => {
        if (/[,\n]/.test(this.input.value)) this.add(this.input.value);
        else if (this.input.value.trim()) this.open();
        else this.close();
      });
      this.input.addEventListener("change", event => event.stopPropagation());
      this.input.addEventListener("paste", event => {
        const text = event.clipboardData.getData("text");
        if (BREAKS.test(text)) { event.preventDefault(); this.add(text); }
      });
      this.input.addEventListener("blur", () => { if (this.input.value.trim()) this.add(this.input.value); this.close(); });
      this.input.addEventListener("keydown", event => this.key(event));
    }
    key(event) {
      const isOpen = !this.list.hidden, last = this.list.children.length - 1;
      if (event.key === "ArrowDown") {
        event.preventDefault();
        if (isOpen) this.mark(this.at >= last ? 0 : this.at + 1);
        else { this.open(); if (!this.list.hidden) this.mark(0); }
      } else if (event.key === "ArrowUp" && isOpen) {
        event.preventDefault();
        this.mark(this.at <= 0 ? last : this.at - 1);
      } else if (event.key === "Enter" && (this.input.value.trim() || this.at >= 0)) {
        event.preventDefault();
        this.add(this.list.children[this.at]?.dataset.word ?? this.meant());
      } else if (event.key === "Tab" && isOpen && !event.shiftKey && this.input.value.trim()) {
        event.preventDefault();
        this.add(this.list.children[Math.max(0, this.at)]?.dataset.word ?? this.input.value);
      } else if (event.key === "Escape" && isOpen) {
        event.stopPropagation();
        this.close();
      } else if (event.key === "Backspace" && !this.input.value && this.names.length) {
        this.set(this.names.slice(0, -1));
      }
    }
  }

  const fields = new Map();
  function scan() {
    document.querySelectorAll("textarea[data-chips]").forEach(area => {
      const field = fields.get(area);
      if (!field || !field.box.isConnected) fields.set(area, new Field(area));
      else if (field.drawn !== document.getElementById(area.dataset.stateFrom)?.dataset.state) field.draw();
    });
    for (const area of fields.keys()) if (!area.isConnected) fields.delete(area);
  }
  document.addEventListener("click", event => {
    const button = event.target.closest("[data-replace]");
    const field = button && fields.get(document.getElementById(button.dataset.field));
    if (field) field.set(field.names.map(name => (name === button.dataset.replace ? button.dataset.with : name)));
  });
  let waiting = false;
  new MutationObserver(() => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; scan(); });
  }).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-state"] });
  scan();
})();

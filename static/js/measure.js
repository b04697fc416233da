/* measure: turns data-w and data-x (percent) into the custom properties --w and --x, which the sheets use.
   Templates carry no style attribute, so that the content security policy needs no exception. */
(function () {
  "use strict";
  const names = { w: "--w", x: "--x" };
  function measure(element) {
    for (const [key, property] of Object.entries(names)) {
      const value = element.dataset[key];
      if (value !== undefined && element.style.getPropertyValue(property) !== value) element.style.setProperty(property, value);
    }
  }
  const selector = "[data-w], [data-x]";
  function all(root) {
    if (root.nodeType !== Node.ELEMENT_NODE) return;
    if (root.matches(selector)) measure(root);
    root.querySelectorAll(selector).forEach(measure);
  }
  all(document.documentElement);
  new MutationObserver(changes => changes.forEach(change => {
    if (change.type === "attributes") measure(change.target);
    else change.addedNodes.forEach(all);
  })).observe(document.documentElement, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-w", "data-x", "style"] });
})();

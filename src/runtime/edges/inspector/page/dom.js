/** Makes elements. Whatever comes from jobs becomes text, never markup: there is no way in here to write HTML. */

/** An element with attributes and children; strings become text, `null` is left out. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/** The element of the page with this id. */
export function part(id) {
  return document.getElementById(id);
}

/** Sets text only where it differs, so that selections and screen readers are left in peace. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes `parent` hold exactly these children, in this order, moving as few as possible. */
export function hold(parent, children) {
  for (const [index, child] of children.entries()) {
    const there = parent.children[index];
    if (there !== child) parent.insertBefore(child, there ?? null);
  }
  while (parent.children.length > children.length) parent.lastElementChild.remove();
}

/** Room left around what is scrolled to. */
const MARGIN = 12;

/**
 * Scrolls `area`, and nothing around it, until `element` is seen; in its middle if it should be. `scrollIntoView` would move the
 * whole page along where it is longer than the window.
 */
export function reveal(element, area, { centre = false, behavior = 'auto' } = {}) {
  if (!element) return;
  const inner = element.getBoundingClientRect();
  const outer = area.getBoundingClientRect();
  const left = way(inner.left, inner.right, outer.left, outer.right, centre);
  const top = way(inner.top, inner.bottom, outer.top, outer.bottom, centre);
  if (left !== 0 || top !== 0) area.scrollBy({ left, top, behavior });
}

function way(from, to, first, last, centre) {
  if (centre) return (from + to - first - last) / 2;
  if (from - MARGIN < first) return from - MARGIN - first;
  return Math.max(0, Math.min(to + MARGIN - last, from - MARGIN - first));
}

/** A function that asks for `draw`: it is called in the next frame, once, and not again before `pauseMs` have passed. */
export function painter(draw, pauseMs) {
  let asked = false;
  let notBefore = 0;
  const paint = () => {
    asked = false;
    notBefore = performance.now() + pauseMs;
    draw();
  };
  return () => {
    if (asked) return;
    asked = true;
    setTimeout(() => requestAnimationFrame(paint), Math.max(0, notBefore - performance.now()));
  };
}

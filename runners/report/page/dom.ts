import { visibleText } from '../messages/escape-html.js';

type Child = Node | string | number | undefined | false;
type Handler = (event: never) => void;
type Attributes = Record<string, string | number | boolean | Handler | undefined>;

/**
 * Creates an element. Strings become text, never markup, with visible control characters; functions become listeners;
 * `undefined` and `false` omit an attribute. Only `setAddress` sets addresses.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function')
      element.addEventListener(name.replace(/^on/, ''), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false).map(asNode));
  return element;
}

/** A button that does not send a form. */
export function button(
  onclick: (event: MouseEvent) => void,
  attributes: Attributes,
  ...children: readonly Child[]
): HTMLButtonElement {
  return h('button', { type: 'button', onclick, ...attributes }, ...children);
}

/** The key that does the same as a button, inside it. */
export function keySign(key: string): HTMLElement {
  return h('kbd', { 'aria-hidden': 'true' }, key);
}

function asNode(child: Node | string | number): Node | string {
  return typeof child === 'object' ? child : visibleText(String(child));
}

/** An address that may be followed: http, https, or a file beside the page. Any other address is dropped. */
export function setAddress(
  element: HTMLAnchorElement | HTMLImageElement | HTMLMediaElement,
  address: string | undefined,
): boolean {
  if (!(element instanceof HTMLAnchorElement)) {
    const isAllowed =
      element instanceof HTMLImageElement ? isPictureAddress(address) : isFile(address ?? ':');
    if (!isAllowed || address === undefined) return false;
    element.src = address;
    return true;
  }
  if (address === undefined || !(/^https?:\/\//i.test(address) || isFile(address))) return false;
  element.href = address;
  element.rel = 'noreferrer noopener';
  element.target = '_blank';
  return true;
}

/** A file beside the page, or a picture in the page itself. */
export function isPictureAddress(address: string | undefined): address is string {
  return address !== undefined && (address.startsWith('data:image/') || isFile(address));
}

function isFile(address: string): boolean {
  return !/^[a-z][a-z\d+.-]*:|^[/\\]/i.test(address);
}

/** A link if the address may be followed, else plain text. */
export function link(address: string | undefined, label: string, attributes: Attributes = {}): HTMLElement {
  const anchor = h('a', attributes, label);
  return setAddress(anchor, address) ? anchor : h('span', attributes, label);
}

/** A small drawing of one or more strokes in a square of 100 units. */
function drawing(className: string, ...paths: readonly string[]): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 100 100');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('class', className);
  svg.setAttribute('aria-hidden', 'true');
  for (const path of paths) {
    const stroke = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    stroke.setAttribute('d', path);
    svg.append(stroke);
  }
  return svg;
}

/** A red cross, as a reviewer draws it. */
export function pencilCross(): SVGElement {
  return drawing(
    'pencil',
    'M7 11C22 24 41 45 58 62 70 73 82 84 94 91',
    'M92 8C78 24 60 41 44 57 31 69 19 81 8 93',
  );
}

/** The tick beside a picture that was kept. */
export function check(): SVGElement {
  return drawing('tick', 'M8 55L38 84 92 16');
}

/** Opens a dialog that leaves the page when it is closed, and gives the focus back. */
export function openDialog(dialog: HTMLDialogElement): void {
  const opener = document.activeElement;
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (opener instanceof HTMLElement) opener.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** Downloads a file in the browser. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

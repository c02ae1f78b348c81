// Content blocks: text as text, pictures and sounds as what they are, links only when they are clicked.

import { badge, el, line, prose } from "./dom.js";
import { pretty } from "./values.js";

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);
const SOUNDS = /^audio\/[\w.+-]+$/;

export function contentView(blocks) {
  return el("ol", { className: "blocks" }, (Array.isArray(blocks) ? blocks : []).map((block) =>
    el("li", {}, badge(line(block?.type ?? "?", 40)), blockView(block ?? {}))));
}

export function blockView(block) {
  switch (block.type) {
    case "text": return prose(String(block.text ?? ""));
    case "image": return picture(block.data, block.mimeType);
    case "audio": return sound(block.data, block.mimeType);
    case "resource_link": return link(block);
    case "resource": return contentsView(block.resource ?? {});
    default: return prose(pretty(block), "pre", "code");
  }
}

/** Show what a resource holds: text, or bytes of some kind. */
export function contentsView(contents) {
  const type = String(contents.mimeType ?? "");
  const head = el("p", { className: "faint" }, line(contents.uri ?? "", 300), type ? ` · ${line(type, 80)}` : "");
  if (typeof contents.text === "string") return el("div", {}, head, prose(contents.text));
  if (PICTURES.has(type)) return el("div", {}, head, picture(contents.blob, type));
  if (SOUNDS.test(type)) return el("div", {}, head, sound(contents.blob, type));
  return el("div", {}, head, bytesView(contents.blob, "bytes"));
}

function decode(data) {
  try {
    return Uint8Array.from(atob(String(data)), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

function bytesView(data, what) {
  const bytes = decode(data);
  return el("p", { className: "faint" }, bytes ? `${bytes.length.toLocaleString("en")} ${what}` : "not base64");
}

function picture(data, type) {
  const bytes = decode(data);
  if (!bytes || !PICTURES.has(type)) return bytesView(data, `bytes of ${line(type ?? "no kind", 60)}, not shown`);
  const image = el("img", { className: "picture", alt: `A picture of ${bytes.length.toLocaleString("en")} bytes` });
  image.src = URL.createObjectURL(new Blob([bytes], { type }));
  image.addEventListener("load", () => URL.revokeObjectURL(image.src));
  return image;
}

function sound(data, type) {
  const bytes = decode(data);
  if (!bytes || !SOUNDS.test(type ?? "")) return bytesView(data, `bytes of ${line(type ?? "no kind", 60)}, not played`);
  const audio = el("audio", { controls: true });
  audio.src = URL.createObjectURL(new Blob([bytes], { type }));
  return audio;
}

function link(block) {
  const uri = String(block.uri ?? "");
  const named = el("p", {}, el("strong", {}, line(block.title ?? block.name ?? "", 120)));
  const shown = line(uri, 500);
  const isWeb = /^https?:\/\//i.test(uri);
  return el("div", {}, named,
    isWeb ? el("a", { href: uri, target: "_blank", rel: "noopener noreferrer" }, shown) : el("code", {}, shown),
    block.description ? prose(String(block.description), "p", "faint") : null);
}

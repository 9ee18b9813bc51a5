// @ts-check
/** Pictures as SVG text and as PNG, in the colours that they have on the screen. */

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "font-family",
  "font-size",
  "font-weight",
  "opacity",
  "text-anchor",
];
/** Pixels for each pixel of an SVG picture on the screen. */
const SCALE = 2;

/**
 * A picture as the text of an SVG file, with its styles and its background.
 * @param {SVGSVGElement} picture
 */
export function svgText(picture) {
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const plain = colours();
  const [from, to] = [picture, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      to[index].setAttribute(name, name === "fill" || name === "stroke" ? plain(value) : value);
    }
  });
  const ground = document.createElementNS(picture.namespaceURI ?? "", "rect");
  for (const name of ["width", "height"]) ground.setAttribute(name, "100%");
  ground.setAttribute("fill", plain(background(picture)));
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

/**
 * A picture as PNG.
 * @param {Element} picture  an SVG element or a canvas
 * @returns {Promise<Blob>}
 */
export async function pictureOf(picture) {
  if (picture instanceof HTMLCanvasElement) {
    return painted(picture, picture.width, picture.height, background(picture));
  }
  const image = new Image();
  const text = svgText(/** @type {SVGSVGElement} */ (picture));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  return painted(image, image.width * SCALE, image.height * SCALE, "transparent");
}

/**
 * @param {CanvasImageSource} image
 * @param {number} width
 * @param {number} height
 * @param {string} ground
 * @returns {Promise<Blob>}
 */
function painted(image, width, height, ground) {
  const { canvas, paint } = drawing(width, height);
  paint.fillStyle = ground;
  paint.fillRect(0, 0, width, height);
  paint.drawImage(image, 0, 0, width, height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) =>
      blob ? resolve(blob) : reject(new Error("The picture is too large.")),
    );
  });
}

/**
 * @param {number} width
 * @param {number} height
 */
function drawing(width, height) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const paint = /** @type {CanvasRenderingContext2D} */ (
    canvas.getContext("2d", { willReadFrequently: true })
  );
  return { canvas, paint };
}

/** Computed colours, which may be mixed, as `rgba(…)`, which every viewer of SVG reads. */
function colours() {
  const { paint } = drawing(1, 1);
  /** @type {Map<string, string>} */
  const known = new Map([["none", "none"]]);
  return (/** @type {string} */ colour) => {
    let found = known.get(colour);
    if (found === undefined) {
      paint.clearRect(0, 0, 1, 1);
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = paint.getImageData(0, 0, 1, 1).data;
      found = `rgba(${red},${green},${blue},${alpha / 255})`;
      known.set(colour, found);
    }
    return found;
  };
}

/** @param {Element} picture */
function background(picture) {
  const root = picture.closest(".pe-explorer") ?? document.body;
  return getComputedStyle(root).backgroundColor;
}

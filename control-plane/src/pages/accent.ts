/*
 * Derives the colors of the hosted pages from a provider's accent color. A provider may choose any color, so the colors of text and
 * links are adjusted: their contrast is at least 4.5:1 (WCAG 2.2, 1.4.3) in light and in dark mode.
 */

/** `#rrggbb` in lower case. */
export type HexColor = `#${string}`

export type Tones = {
  /** Color of links, focus rings, charts and borders, readable on every background of the pages. */
  readonly main: HexColor
  /** Background of buttons. */
  readonly accent: HexColor
  readonly accentHover: HexColor
  /** Text color on buttons: black or white. */
  readonly onAccent: HexColor
}

export type ColorScheme = 'light' | 'dark'

/** Backgrounds on which links may be, as `pages.css` defines them. */
export const backgrounds: Readonly<Record<ColorScheme, readonly HexColor[]>> = {
  light: ['#f6f7f9', '#ffffff', '#e2f4e9', '#fdf0d5', '#fdeaea'],
  dark: ['#12151a', '#1b2027', '#163424', '#3a2c11', '#431c20'],
}

const contrastMin = 4.5
const black: HexColor = '#000000'
const white: HexColor = '#ffffff'

export function tonesOf(accent: HexColor, scheme: ColorScheme): Tones {
  const towards = scheme === 'light' ? black : white
  const main = readableOn(accent, backgrounds[scheme], towards)
  const onAccent = contrastOf(accent, black) >= contrastOf(accent, white) ? black : white
  const opposite = onAccent === black ? white : black
  return {
    main,
    accent,
    accentHover: mix(accent, opposite, 0.15),
    onAccent,
  }
}

/** Returns the color, mixed with as little of `towards` as makes it readable on all backgrounds. */
function readableOn(color: HexColor, behind: readonly HexColor[], towards: HexColor): HexColor {
  const steps = 50
  for (let step = 0; step < steps; step += 1) {
    const candidate = mix(color, towards, step / steps)
    if (behind.every((ground) => contrastOf(candidate, ground) >= contrastMin)) return candidate
  }
  return towards
}

/** Returns the contrast ratio of WCAG 2.2, from 1 to 21. */
export function contrastOf(one: HexColor, other: HexColor): number {
  const [lighter, darker] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a)
  return (lighter! + 0.05) / (darker! + 0.05)
}

function luminanceOf(color: HexColor): number {
  const [red, green, blue] = channelsOf(color).map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function mix(color: HexColor, other: HexColor, part: number): HexColor {
  const others = channelsOf(other)
  const channels = channelsOf(color).map((value, at) =>
    Math.round(value + (others[at]! - value) * part),
  )
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function channelsOf(color: HexColor): number[] {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16))
}

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contrastOf, backgrounds, tonesOf, type ColorScheme, type HexColor } from './accent.ts'

const hexColor = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value): HexColor => `#${value.toString(16).padStart(6, '0')}`)
const scheme = fc.constantFrom<ColorScheme>('light', 'dark')

test('keeps text and links readable for any color', () => {
  fc.assert(
    fc.property(hexColor, scheme, (accent, of) => {
      const { main, onAccent, accentHover } = tonesOf(accent, of)
      for (const ground of backgrounds[of]) {
        expect(contrastOf(main, ground)).toBeGreaterThanOrEqual(4.5)
      }
      expect(contrastOf(onAccent, accent)).toBeGreaterThanOrEqual(4.5)
      expect(contrastOf(onAccent, accentHover)).toBeGreaterThanOrEqual(4.5)
    }),
    { numRuns: 2_000 },
  )
})

test.each<[HexColor, ColorScheme, HexColor, HexColor]>([
  ['#2f4fd0', 'light', '#2f4fd0', '#ffffff'],
  ['#000000', 'light', '#000000', '#ffffff'],
  ['#ffff00', 'dark', '#ffff00', '#000000'],
])('keeps %s in %s mode if it is readable', (accent, of, main, onAccent) => {
  expect(tonesOf(accent, of)).toMatchObject({ main, accent, onAccent })
})

test('uses the backgrounds of the stylesheet', () => {
  const css = readFileSync(new URL('../../public/pages.css', import.meta.url), 'utf8')
  for (const [of, part] of [
    ['light', css.slice(0, css.indexOf('@media'))],
    ['dark', css.slice(css.indexOf('@media'), css.indexOf('* {'))],
  ] as const) {
    const values = ['ground', 'surface', 'good-ground', 'warning-ground', 'bad-ground'].map(
      (name) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(part)?.[1],
    )
    expect(values).toEqual(backgrounds[of])
  }
})

test('computes the contrast of WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBe(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})

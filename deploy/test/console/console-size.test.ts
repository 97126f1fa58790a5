import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const dist = fileURLToPath(new URL('../../../console/dist/', import.meta.url))
const page = readFileSync(`${dist}index.html`, 'utf8')

const firstLoadBytesMax = 250_000

test('the page, its scripts and its styles are at most 250 kB compressed', () => {
  const names = [...page.matchAll(/"\.\/(assets\/[^"]+)"/g)].map(([, name]) => name!)
  expect(names.some((name) => name.endsWith('.js'))).toBe(true)
  expect(names.some((name) => name.endsWith('.css'))).toBe(true)
  const sizes = ['index.html', ...names].map((name) => gzipSync(readFileSync(dist + name)).length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(firstLoadBytesMax)
})

test('the built files name no other site and contain no inline script', () => {
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)/)
  expect(page).not.toMatch(/(?:src|href)="https?:/)
  const styles = readdirSync(`${dist}assets`).filter((name) => name.endsWith('.css'))
  for (const name of styles) {
    expect(readFileSync(`${dist}assets/${name}`, 'utf8')).not.toMatch(/url\(["']?(?:https?:|\/\/)/)
  }
})

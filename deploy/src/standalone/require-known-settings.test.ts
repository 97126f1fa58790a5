import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { requireKnownSettings } from './require-known-settings.ts'

const root = new URL('../../../', import.meta.url)

test('knows every variable that the docs name', async () => {
  const pages = (await readdir(new URL('docs/', root))).filter((name) => name.endsWith('.md'))
  const files = ['README.md', 'deploy/compose.yaml', ...pages.map((name) => `docs/${name}`)]
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, root), 'utf8')))
  // A name followed by `…` or `*` is the prefix of several variables.
  const names = texts.join('\n').match(/\bTOLLGATE_[A-Z0-9_]*[A-Z0-9]\b(?![_*…])/g)!
  expect(names.length).toBeGreaterThan(200)
  requireKnownSettings(Object.fromEntries(names.map((name) => [name, '1'])))
})

test('ignores variables of tests and of other programs', () => {
  requireKnownSettings({ TOLLGATE_TEST_ANYTHING: '1', PATH: '/bin', MY_TOLLGATE_KEY: '1' })
})

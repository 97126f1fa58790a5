import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { madePages } from '../src/pages/made-pages.ts'

test.each(['cli.md', 'configuration.md', 'events.md'])(
  'docs/%s is what the code declares (npm run docs makes it anew)',
  async (name) => {
    const page = await readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
    expect(page).toBe((await madePages())[name])
  },
)

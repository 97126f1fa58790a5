import axe from 'axe-core'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Pictures are for people to look at, and are taken when asked for. */
const screenshots =
  process.env['TOLLGATE_TEST_PICTURES'] === '1'
    ? fileURLToPath(new URL('../../screenshots', import.meta.url))
    : undefined

/** Browsers share the machine with everything else that is tested. */
const patienceMs = 30_000

const phone = { width: 375, height: 740 }
const desk = { width: 1280, height: 800 }

/** Somebody with a browser of their own. */
export type Visitor = {
  readonly page: Page
  /** Looks at the page as it is: by rules of accessibility, on a phone and a desk, in light and dark; keeps pictures where asked. */
  inspect(name: string): Promise<void>
  close(): Promise<void>
}

/** What goes wrong in the browser fails the next inspection: a script's error, and what the page's policy forbids. */
export async function createVisitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  if (screenshots !== undefined) await mkdir(screenshots, { recursive: true })
  const context = await browser.newContext({ locale: 'en-US', viewport: desk, ...options })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !isOfStatus(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return {
    page,
    inspect: async (name) => {
      for (const [size, viewport] of Object.entries({ phone, desk })) {
        await page.setViewportSize(viewport)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          if (screenshots !== undefined) {
            const path = join(screenshots, `${name}-${size}-${colorScheme}.png`)
            await page.screenshot({ path, fullPage: true })
          }
          const violations = await violationsOf(page, rules[colorScheme])
          expect(violations, `${name} on a ${size}, ${colorScheme}`).toEqual([])
        }
        const width = await page.evaluate<number>('document.documentElement.scrollWidth')
        expect(width, `${name} is as wide as the ${size}`).toBeLessThanOrEqual(viewport.width)
      }
      expect(complaints, `${name}: what the browser complained about`).toEqual([])
    },
    close: () => context.close(),
  }
}

/** A page that was refused, or that tells that something does not work now, is a page all the same. */
function isOfStatus(text: string): boolean {
  return /^Failed to load resource: the server responded with a status of (4|503)/.test(text)
}

/** WCAG 2.2 AA, and in the dark what darkness can change: the page has the same elements in both. */
const rules = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  dark: ['color-contrast', 'link-in-text-block'],
} as const

/** One line for each element that breaks one of the rules. */
async function violationsOf(page: Page, runOnly: readonly string[]): Promise<string[]> {
  await page.evaluate(`window.axe === undefined && (() => { ${axe.source} })()`)
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(${JSON.stringify({ runOnly })})`,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

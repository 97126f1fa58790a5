import type axe from 'axe-core'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Whether screenshots are requested. */
export const keepsPictures = process.env['TOLLGATE_TEST_PICTURES'] === '1'

/** Folder of screenshots. */
const screenshots = keepsPictures
  ? fileURLToPath(new URL('../../screenshots', import.meta.url))
  : undefined

/** The whole library is sent to each inspected page, so its short form is. */
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

/** Timeout of browser operations. Browsers share the machine with all other tests. */
const patienceMs = 30_000

const phone = { width: 375, height: 740 }
const desk = { width: 1280, height: 800 }

/** A visitor with a separate browser context. */
export type Visitor = {
  readonly page: Page
  /** Checks the accessibility of the page on a phone and a desktop, in light and dark mode. Takes screenshots if requested. */
  inspect(name: string): Promise<void>
  close(): Promise<void>
}

/** Opens a visitor. Script errors and violations of the content security policy fail the next inspection. */
export async function createVisitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  if (screenshots !== undefined) await mkdir(screenshots, { recursive: true })
  // Without motion: in the middle of a transition, an inspection would read colors that nobody sees for long.
  const context = await browser.newContext({
    ...{ locale: 'en-US', viewport: desk, reducedMotion: 'reduce' },
    ...options,
  })
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

/** Returns whether a console error only reports the status of a page. Pages with errors are inspected too. */
function isOfStatus(text: string): boolean {
  return /^Failed to load resource: the server responded with a status of (4|503)/.test(text)
}

/** Rules of WCAG 2.2 AA. In dark mode only rules that colors affect are checked, because the page has the same elements. */
const rules = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  dark: ['color-contrast', 'link-in-text-block'],
} as const

/**
 * Returns one line for each element that violates a rule. Only violations are worked out and returned, which takes a fraction of
 * the time of the whole report.
 */
async function violationsOf(page: Page, runOnly: readonly string[]): Promise<string[]> {
  const hasAxe = await page.evaluate<boolean>('window.axe !== undefined')
  if (!hasAxe) await page.evaluate(`(() => { ${axeSource} })()`)
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] })
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(${options}).then(({ violations }) => violations)`,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
  )
}

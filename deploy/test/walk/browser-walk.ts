import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launchChromium } from '../pages/chromium.ts'

const address = 'http://127.0.0.1:8787'

/** Opens the pages that a new user finds, buys a plan with a test card, and signs in. Returns what each page showed. */
export async function walkInBrowser(pictures: string, passwordLink: string): Promise<string> {
  const browser = await launchChromium()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-US' })
  page.setDefaultTimeout(20_000)
  const lines: string[] = []
  const look = async (name: string): Promise<void> => {
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
    lines.push(`${name}: ${await page.locator('h1').first().innerText()}`)
  }
  try {
    await page.goto(address)
    await look('1-start-page')
    await page.goto(`${address}/docs`)
    await look('2-docs')
    await page.goto(`${address}/nothing-here`)
    await look('3-not-found')
    await page.goto(address)
    await page.getByRole('button', { name: 'Open the portal of Ada' }).click()
    await look('4-portal')
    await buyPlan(page, look)
    await page.goto(passwordLink)
    const password = 'correct horse battery'
    await page.getByLabel('New password').fill(password)
    await page.getByLabel('The same password again').fill(password)
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await look('8-console')
  } finally {
    await browser.close()
  }
  return lines.join('\n')
}

async function buyPlan(page: Page, look: (name: string) => Promise<void>): Promise<void> {
  await page.goto(address)
  await page.getByRole('button', { name: 'Open a checkout for Ada' }).click()
  await look('5-checkout')
  await page.getByRole('link', { name: 'Choose Pro' }).click()
  await page.getByRole('button', { name: 'Continue to payment' }).click()
  await page.getByRole('button', { name: 'Enter card' }).click()
  await look('6-card')
  await page.getByRole('button', { name: /^Pay/ }).click()
  await page.getByText('✓').waitFor()
  await look('7-done')
}

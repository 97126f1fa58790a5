import type { Page } from 'playwright-core'
import { vi } from 'vitest'

/** Presses the button and returns what it copies. */
export async function copied(page: Page, name: string, patienceMs: number): Promise<string> {
  await page.evaluate("navigator.clipboard.writeText('')")
  await page.getByRole('button', { name }).click()
  return vi.waitUntil(() => page.evaluate<string>('navigator.clipboard.readText()'), patienceMs)
}

/** Sends the request of a copied command with the key of a program. */
export async function sendCommand(command: string, secretKey: string): Promise<unknown> {
  const url = /^curl '([^']+)' -H "Authorization: Bearer \$SECRET_KEY"$/.exec(command)?.[1]
  if (url === undefined) throw new Error(`not a command: ${command}`)
  return getWithKey(url, secretKey)
}

export async function getWithKey(url: string, secretKey: string): Promise<unknown> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${secretKey}` } })
  return response.json()
}

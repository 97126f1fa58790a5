import { readFileSync } from 'node:fs'
import type { WebhookFault } from '../src/verify-webhook.ts'

export type Vector = {
  readonly name: string
  readonly secret: string
  readonly receivedUnixSeconds: number
  readonly header: string
  readonly bodyBase64: string
  readonly fault: WebhookFault | null
}

export const vectors = JSON.parse(
  readFileSync(new URL('../vectors.json', import.meta.url), 'utf8'),
) as readonly Vector[]

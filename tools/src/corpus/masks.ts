/*
 * Hides what differs between two runs of the same requests: ids, secrets, times and addresses. An id becomes `{prd:17.0}`: the first
 * product id that the answer of exchange 17 was the first to name. The number of the exchange is part of it, so that one more id in
 * an answer does not change the names of all ids after it.
 */

const prefixes =
  'prd|pln|cus|pur|mtr|usage|rsv|mcp|evt|we|whs|wr|dlv|pi|cs|txn|inv|crn|dp|po|re|rec|prv|key|usr|req|seti|pm'

/** Ids that are masked by their kind. The order matters: a longer form comes before a form that is part of it. */
const ids = new RegExp(
  [
    String.raw`(?<secret>\b(?:sk_(?:sandbox|live|test)|whsec|pk_(?:test|live))_[A-Za-z0-9_]{8,})`,
    String.raw`(?<jwt>\beyJ[\w-]+\.[\w-]+\.[\w-]+)`,
    String.raw`(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)`,
    String.raw`(?<ref>\b(?:${prefixes})_(?=[A-Za-z0-9_-]*[A-Z0-9])[A-Za-z0-9_-]{8,})`,
    String.raw`(?<customer>\bcus_[a-z0-9]{12}\b)`,
    String.raw`(?<hex>\b(?=[0-9a-f]*\d)[0-9a-f]{24,}\b)`,
    // The part of an MCP address that makes it unique.
    String.raw`(?<=-)(?<subdomain>[0-9a-f]{8})(?=["/.])`,
    String.raw`(?<="last4":")(?<last>[A-Za-z0-9]{4})(?=")`,
    String.raw`(?<cursor>\b\d{16}-(?:sandbox|live)-\d+)`,
    // A random token: at least 20 characters with a digit, a lower and an upper case letter.
    String.raw`(?<token>(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{20,})`,
  ].join('|'),
  'g',
)

const months = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'

const times: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)/g, '{time}'],
  [/\b20\d\d-\d\d-\d\d\b/g, '{date}'],
  [/\b20\d\d-(0[1-9]|1[0-2])\b/g, '{month}'],
  [new RegExp(String.raw`\b(${months})[a-z]* \d{1,2}, \d{4}\b`, 'g'), '{day}'],
  [new RegExp(String.raw`\b\d{1,2} (${months})[a-z]* \d{4}\b`, 'g'), '{day}'],
  [/\b1[5-9]\d{8}(\d{3})?\b/g, '{unix}'],
  [/\bhttps?:\/\/127\.0\.0\.1:\d+/g, '{url}'],
]

export class Masks {
  readonly #values = new Map<string, string>()
  readonly #masks = new Map<string, string>()

  /** Returns the text with masks in place of ids and times. New ids are named after the exchange. */
  hide(text: string, exchange: number): string {
    let hidden = text.replace(ids, (value: string, ...found: unknown[]) => {
      const known = this.#masks.get(value)
      if (known !== undefined) return known
      const groups = found.at(-1) as Record<string, string | undefined>
      const mask = this.#newMask(kindOf(value, groups), exchange)
      this.#masks.set(value, mask)
      this.#values.set(mask, value)
      return mask
    })
    for (const [pattern, mask] of times) hidden = hidden.replace(pattern, mask)
    return hidden
  }

  /**
   * Returns the text with values in place of masks. `{day-2}` is the date two days ago, and `{now-60}` the time a minute ago. A mask
   * without a value stays, so that the request is answered as one with an unknown id.
   */
  fill(text: string, nowMs: number): string {
    return text
      .replace(/\{day([+-]\d+)\}/g, (_, days: string) =>
        isoAt(nowMs, Number(days) * 86_400).slice(0, 10),
      )
      .replace(/\{now([+-]\d+)\}/g, (_, seconds: string) => isoAt(nowMs, Number(seconds)))
      .replace(/\{[a-z]+:\d+\.\d+\}/g, (mask) => this.#values.get(mask) ?? mask)
  }

  #newMask(kind: string, exchange: number): string {
    for (let number = 0; ; number += 1) {
      const mask = `{${kind}:${exchange}.${number}}`
      if (!this.#values.has(mask)) return mask
    }
  }
}

function kindOf(value: string, groups: Readonly<Record<string, string | undefined>>): string {
  const [kind = 'id'] = Object.entries(groups).find(([, found]) => found !== undefined) ?? []
  return kind === 'ref' || kind === 'customer' ? value.slice(0, value.indexOf('_')) : kind
}

function isoAt(nowMs: number, seconds: number): string {
  return new Date(nowMs + seconds * 1_000).toISOString()
}

import type { Entitlement } from '@tollgate/schemas/hot-state/documents'

/**
 * Cache of parsed entitlements, keyed by their JSON text. A limit check reads the document every time, so it is never
 * out of date. While the text is unchanged, the check skips the parsing, which costs more than everything else in it.
 */
export class EntitlementDocuments {
  readonly #entitlements = new Map<string, Entitlement>()
  readonly #documentsMax: number

  constructor(documentsMax: number) {
    this.#documentsMax = documentsMax
  }

  parse(document: string): Entitlement {
    const known = this.#entitlements.get(document)
    if (known !== undefined) return known
    const entitlement = JSON.parse(document) as Entitlement
    // Clearing everything is cheaper than tracking the order of use. The cache is full again after one read of each
    // customer.
    if (this.#entitlements.size >= this.#documentsMax) this.#entitlements.clear()
    this.#entitlements.set(document, entitlement)
    return entitlement
  }
}

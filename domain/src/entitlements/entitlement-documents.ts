import type { Entitlement } from '@tollgate/schemas/hot-state/documents'

/**
 * Entitlements by their text. A limit check reads the document anew each time, so that it is never out of date, and
 * spares itself the parsing, which costs more than all else it does, while the text is still the same.
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
    // Cheaper than keeping an order, and right again within one read of each customer.
    if (this.#entitlements.size >= this.#documentsMax) this.#entitlements.clear()
    this.#entitlements.set(document, entitlement)
    return entitlement
  }
}

import type { Entitlement } from '@tollgate/schemas/hot-state/documents'

/**
 * Cache of parsed documents, keyed by their JSON text. A limit check reads the document every time, so it is never
 * out of date. While the text is unchanged, the check skips the parsing, which costs more than everything else in it.
 */
export class ParsedDocuments<Document> {
  readonly #parsed = new Map<string, Document>()
  readonly #documentsMax: number

  constructor(documentsMax: number) {
    this.#documentsMax = documentsMax
  }

  parse(document: string): Document {
    const known = this.#parsed.get(document)
    if (known !== undefined) return known
    const parsed = JSON.parse(document) as Document
    // Clearing everything is cheaper than tracking the order of use. The cache is full again after one read of each
    // customer.
    if (this.#parsed.size >= this.#documentsMax) this.#parsed.clear()
    this.#parsed.set(document, parsed)
    return parsed
  }
}

export class EntitlementDocuments extends ParsedDocuments<Entitlement> {}

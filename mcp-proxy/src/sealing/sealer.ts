import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
/** Bytes of JSON that are sealed and opened where the caller gives no other number. */
const bytesMaxUsual = 65_536

/** What a sealed text is for. A text that was sealed for one purpose does not open for another. */
export type SealPurpose = 'session' | 'request-state'

/**
 * Seals JSON that the proxy gives to clients and wants back unchanged and unread. The key is derived from the secret that the
 * services of an installation share, so that any replica opens what another one has sealed. Texts are base64url.
 */
export class Sealer {
  readonly #key: Buffer

  constructor(serviceSecret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', serviceSecret, '', 'tollgate mcp-proxy seal v1', 32))
  }

  /** Returns undefined for a value that is longer as JSON than `open` takes with the same `bytesMax`. */
  seal(purpose: SealPurpose, value: object, bytesMax = bytesMaxUsual): string | undefined {
    const text = JSON.stringify(value)
    if (Buffer.byteLength(text) > bytesMax) return undefined
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(purpose))
    const packed = deflateRawSync(text)
    const sealed = [nonce, cipher.update(packed), cipher.final(), cipher.getAuthTag()]
    return Buffer.concat(sealed).toString('base64url')
  }

  /** Returns undefined for a text that was altered, or was sealed for another purpose or with another secret. */
  open(purpose: SealPurpose, text: string, bytesMax = bytesMaxUsual): unknown {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length <= nonceBytes + tagBytes) return undefined
    const nonce = bytes.subarray(0, nonceBytes)
    const decipher = createDecipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes))
    try {
      const body = bytes.subarray(nonceBytes, -tagBytes)
      const packed = Buffer.concat([decipher.update(body), decipher.final()])
      const opened = inflateRawSync(packed, { maxOutputLength: bytesMax })
      return JSON.parse(opened.toString()) as unknown
    } catch {
      return undefined
    }
  }
}

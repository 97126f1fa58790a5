import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
/** Default for the maximum bytes of JSON that are sealed and opened. */
const bytesMaxUsual = 65_536

/** Purpose of a sealed text. A text that was sealed for one purpose cannot be opened for another. */
export type SealPurpose = 'session' | 'request-state'

/**
 * Encrypts and authenticates JSON that the proxy gives to clients and that clients send back. The key is derived from the secret
 * shared by the services of an installation, so that every replica opens texts of the others. Texts are base64url.
 */
export class Sealer {
  readonly #key: Buffer

  constructor(serviceSecret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', serviceSecret, '', 'tollgate mcp-proxy seal v1', 32))
  }

  /** Seals a value. Returns undefined if the JSON of the value exceeds `bytesMax`, which `open` would refuse. */
  seal(purpose: SealPurpose, value: object, bytesMax = bytesMaxUsual): string | undefined {
    const text = JSON.stringify(value)
    if (Buffer.byteLength(text) > bytesMax) return undefined
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(purpose))
    const packed = deflateRawSync(text)
    const sealed = [nonce, cipher.update(packed), cipher.final(), cipher.getAuthTag()]
    return Buffer.concat(sealed).toString('base64url')
  }

  /** Opens a text. Returns undefined if it was changed, or was sealed for another purpose or with another secret. */
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

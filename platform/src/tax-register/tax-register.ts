import { request } from 'undici'
import type { SettingValues } from '../config/settings.ts'
import type { taxRegisterSettings } from './tax-register-settings.ts'

/** What the register says about a tax id. */
export type RegisterAnswer =
  | {
      readonly kind: 'valid'
      /** Name and address in the register; null if the state does not publish them. */
      readonly name: string | null
      readonly address: string | null
      /** Proof of the look-up; null if none was issued. */
      readonly consultationNumber: string | null
    }
  | { readonly kind: 'invalid' }
  /** The register or the state's part of it did not answer. `reason` is for people. */
  | { readonly kind: 'unavailable'; readonly reason: string }

export type TaxRegister = {
  /**
   * Looks a VAT number of the EU up, with its prefix, such as `DE123456789`. `requester` is the seller's number: then the answer has
   * a consultation number. Never rejects.
   */
  lookUp(taxId: string, requester: string | null): Promise<RegisterAnswer>
}

/** Largest response that is read, in bytes. An answer has less than 2,000. */
const answerBytesMax = 100_000

/** What the register says if it does not know the seller's number. */
const requesterRefused = 'INVALID_REQUESTER_INFO'

/** Opens the register. Returns undefined if none is configured. */
export function openTaxRegister({
  taxRegisterUrl: url,
  taxRegisterTimeoutMs: timeoutMs,
}: SettingValues<typeof taxRegisterSettings>): TaxRegister | undefined {
  if (url === '') return undefined
  return {
    lookUp: async (taxId, requester) => {
      const signal = AbortSignal.timeout(timeoutMs)
      const ask = async (address: string): Promise<RegisterAnswer> => {
        const { statusCode, body } = await request(address, {
          headers: { accept: 'application/json' },
          signal,
        })
        const text = await readText(body)
        return statusCode === 200 ? answerOf(text) : unavailable(`status ${statusCode}`)
      }
      try {
        const answer = await ask(addressOf(url, taxId, requester))
        // A seller's number that is not in the register only costs the proof: no number could be looked up otherwise.
        const isRefused = answer.kind === 'unavailable' && answer.reason === requesterRefused
        return isRefused ? await ask(addressOf(url, taxId, null)) : answer
      } catch (error) {
        return unavailable(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > answerBytesMax) throw new Error('an answer that is too long')
  }
  return Buffer.concat(chunks).toString()
}

function addressOf(url: string, taxId: string, requester: string | null): string {
  const [state, number] = [taxId.slice(0, 2), taxId.slice(2)]
  // The seller's number is stored as it was typed.
  const seller = requester?.replaceAll(/[\s.-]/g, '').toUpperCase() ?? ''
  const asked = new URLSearchParams(
    /^[A-Z]{2}./.test(seller)
      ? { requesterMemberStateCode: seller.slice(0, 2), requesterNumber: seller.slice(2) }
      : {},
  )
  const query = asked.size === 0 ? '' : `?${asked.toString()}`
  return `${url}/ms/${state}/vat/${encodeURIComponent(number)}${query}`
}

/** A state that does not answer is reported with status 200, `isValid: false` and the reason in `userError`. */
function answerOf(text: string): RegisterAnswer {
  const answer = JSON.parse(text) as Readonly<Record<string, unknown>> | null
  const userError = answer?.['userError']
  if (userError === 'INVALID' || userError === 'INVALID_INPUT') return { kind: 'invalid' }
  if (userError !== 'VALID' || answer?.['isValid'] !== true) {
    return unavailable(typeof userError === 'string' ? userError : 'an answer of another form')
  }
  return {
    kind: 'valid',
    name: publishedText(answer['name']),
    address: publishedText(answer['address']),
    consultationNumber: publishedText(answer['requestIdentifier']),
  }
}

/** States that publish nothing answer with `---`. Control characters are replaced, because PostgreSQL stores no NUL in a text. */
function publishedText(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const text = value.replaceAll(/(?!\n)\p{Cc}/gu, ' ').trim()
  return text === '' || text === '---' ? null : text.slice(0, 500)
}

function unavailable(reason: string): RegisterAnswer {
  return { kind: 'unavailable', reason: reason.slice(0, 200) }
}

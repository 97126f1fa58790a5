import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { cookieOptions } from './cookies.ts'
import type { Notice } from './notice.tsx'

/*
 * A form that was sent and is shown once more. Its browser is led back to the page of the form, so that neither reloading
 * that page nor going back to it sends the form again; what it held goes along in a cookie of that page, under the mark
 * that is in the page's address. Signed by what the page's forms carry: nobody else puts words on the page.
 */

const keptFormSchema = z.object({
  /** Each field as it was typed. */
  fields: z.record(z.string(), z.string()).readonly(),
  /** Why it was refused; null: only to show what it comes to so far. */
  text: z.string().nullable(),
})

export type KeptForm = Readonly<z.infer<typeof keptFormSchema>>

/** An open page: its cookies are bound to where it is. */
type OpenPage = { readonly path: string; readonly formToken: string }

const cookieName = 'form'
const keptSeconds = 15 * 60

/** A browser drops a cookie of more than 4 KiB. These fields are longer than all others together. */
const longFields: Readonly<Record<string, number>> = { address: 500, invoiceEmail: 254 }
const lettersMax = 100

/** Leads to `path`, which shows the form again. */
export function sendBack(
  pages: { readonly hostedUrl: string },
  reply: FastifyReply,
  page: OpenPage,
  path: string,
  { fields, text }: KeptForm,
): FastifyReply {
  const mark = randomBytes(9).toString('base64url')
  const cut = Object.entries(fields).map(
    ([name, typed]) => [name, typed.slice(0, longFields[name] ?? lettersMax)] as const,
  )
  const kept: KeptForm = { fields: Object.fromEntries(cut), text }
  const json = Buffer.from(JSON.stringify(kept)).toString('base64url')
  const isSecure = new URL(pages.hostedUrl).protocol === 'https:'
  const separator = path.includes('?') ? '&' : '?'
  return reply
    .setCookie(cookieName, `${mark}.${json}.${signatureOf(page, mark, json)}`, {
      ...cookieOptions(page.path, isSecure),
      maxAge: keptSeconds,
    })
    .redirect(`${path}${separator}kept=${mark}`, 303)
}

/** The form that the page is to show again; undefined where it is opened anew. */
export function keptFormOf(request: FastifyRequest, page: OpenPage): KeptForm | undefined {
  const { kept } = request.query as { readonly kept?: unknown }
  const [mark, json, signature] = request.cookies[cookieName]?.split('.', 3) ?? []
  if (mark === undefined || mark !== kept) return undefined
  if (json === undefined || signature === undefined) return undefined
  if (!isSame(signature, signatureOf(page, mark, json))) return undefined
  return keptFormIn(json)
}

/** Who reads the page can sign anything: undefined if it is no form. */
function keptFormIn(json: string): KeptForm | undefined {
  try {
    return keptFormSchema.parse(JSON.parse(Buffer.from(json, 'base64url').toString()))
  } catch {
    return undefined
  }
}

export function noticeOf(kept: KeptForm | undefined): Notice | undefined {
  const text = kept?.text ?? null
  return text === null ? undefined : { tone: 'bad', text }
}

function signatureOf({ formToken }: OpenPage, mark: string, json: string): string {
  return createHmac('sha256', formToken).update(`kept ${mark} ${json}`).digest('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

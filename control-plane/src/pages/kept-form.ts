import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { cookieOptions } from './cookies.ts'
import type { Notice } from './notice.tsx'

/*
 * A form that was sent and is shown again. The browser is redirected to the page of the form, so that neither a reload of that page
 * nor the back button sends the form again. A cookie of that page contains the fields, under the mark in the page's address. The
 * cookie is signed with the form token of the page, so that another site cannot put text on the page.
 */

const keptFormSchema = z.object({
  /** Each field as the customer typed it. */
  fields: z.record(z.string(), z.string()).readonly(),
  /** Why the form was refused. Null means that it is shown only with its current total. */
  text: z.string().nullable(),
})

export type KeptForm = Readonly<z.infer<typeof keptFormSchema>>

/** An open page. Its cookies are limited to its path. */
type OpenPage = { readonly path: string; readonly formToken: string }

const cookieName = 'form'
const keptSeconds = 15 * 60

/** Maximum lengths of the fields that are longer than all others together. A browser drops a cookie of more than 4 KiB. */
const longFields: Readonly<Record<string, number>> = { address: 500, invoiceEmail: 254 }
const lettersMax = 100

/** Redirects to `path`, which shows the form again. */
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

/** Returns the form that the page must show again, or undefined if the page is opened normally. */
export function keptFormOf(request: FastifyRequest, page: OpenPage): KeptForm | undefined {
  const { kept } = request.query as { readonly kept?: unknown }
  const [mark, json, signature] = request.cookies[cookieName]?.split('.', 3) ?? []
  if (mark === undefined || mark !== kept) return undefined
  if (json === undefined || signature === undefined) return undefined
  if (!isSame(signature, signatureOf(page, mark, json))) return undefined
  return keptFormIn(json)
}

/** The reader of the page knows its form token and can sign any text, so text that is not such a form returns undefined. */
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

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

const submittedFormSchema = z.object({
  /** Each field as the customer typed it. */
  fields: z.record(z.string(), z.string()).readonly(),
  /** Why the form was refused. Null means that it is shown only with its current total. */
  text: z.string().nullable(),
})

export type SubmittedForm = Readonly<z.infer<typeof submittedFormSchema>>

/** An open page. Its cookies are limited to its path. */
type OpenPage = { readonly path: string; readonly formToken: string }

const cookieName = 'form'
const cookieSeconds = 15 * 60

/** Maximum lengths of the fields that are longer than all others together. A browser drops a cookie of more than 4 KiB. */
const longFields: Readonly<Record<string, number>> = { address: 500, invoiceEmail: 254 }
const fieldCharsMax = 100

/** Redirects to `path`, which shows the form again. */
export function showFormAgain(
  pages: { readonly hostedUrl: string },
  reply: FastifyReply,
  page: OpenPage,
  path: string,
  { fields, text }: SubmittedForm,
): FastifyReply {
  const formId = randomBytes(9).toString('base64url')
  const shortened = Object.entries(fields).map(
    ([name, typed]) => [name, typed.slice(0, longFields[name] ?? fieldCharsMax)] as const,
  )
  const form: SubmittedForm = { fields: Object.fromEntries(shortened), text }
  const json = Buffer.from(JSON.stringify(form)).toString('base64url')
  const isSecure = new URL(pages.hostedUrl).protocol === 'https:'
  const separator = path.includes('?') ? '&' : '?'
  return reply
    .setCookie(cookieName, `${formId}.${json}.${signatureOf(page, formId, json)}`, {
      ...cookieOptions(page.path, isSecure),
      maxAge: cookieSeconds,
    })
    .redirect(`${path}${separator}kept=${formId}`, 303)
}

/** Returns the form that the page must show again, or undefined if the page is opened normally. */
export function submittedFormOf(
  request: FastifyRequest,
  page: OpenPage,
): SubmittedForm | undefined {
  const { kept } = request.query as { readonly kept?: unknown }
  const [formId, json, signature] = request.cookies[cookieName]?.split('.', 3) ?? []
  if (formId === undefined || formId !== kept) return undefined
  if (json === undefined || signature === undefined) return undefined
  if (!isSameSignature(signature, signatureOf(page, formId, json))) return undefined
  return parseSubmittedForm(json)
}

/** The reader of the page knows its form token and can sign any text, so text that is not such a form returns undefined. */
function parseSubmittedForm(json: string): SubmittedForm | undefined {
  try {
    return submittedFormSchema.parse(JSON.parse(Buffer.from(json, 'base64url').toString()))
  } catch {
    return undefined
  }
}

export function refusalNotice(form: SubmittedForm | undefined): Notice | undefined {
  const text = form?.text ?? null
  return text === null ? undefined : { tone: 'bad', text }
}

function signatureOf({ formToken }: OpenPage, formId: string, json: string): string {
  return createHmac('sha256', formToken).update(`kept ${formId} ${json}`).digest('base64url')
}

function isSameSignature(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

import { StripeApiError } from '../errors.ts'
import { formatAmount } from '../objects/amounts.ts'
import { offeredCards } from '../objects/offered-cards.ts'
import { authenticatePayment, confirmPaymentIntent } from '../objects/payment-intents.ts'
import { createPaymentMethod } from '../objects/payment-methods.ts'
import type { PaymentIntent, SetupIntent } from '../store/records.ts'
import { authenticateSetup, confirmSetupIntent } from '../objects/setup-intents.ts'
import type { KeyValueStore } from '../store/key-value-store.ts'
import type { SimulatedClock } from '../store/simulated-clock.ts'
import { UnitOfWork } from '../store/unit-of-work.ts'
import { cardForm } from './card-form.ts'
import { escapeHtml, hiddenFields, page } from './html.ts'

export type PageParts = { readonly store: KeyValueStore; readonly clock: SimulatedClock }

export type PageAnswer =
  | { readonly kind: 'page'; readonly status: number; readonly html: string }
  | { readonly kind: 'redirect'; readonly url: string }

/** Input from the browser: the query of a page, or the fields of its form. */
export type Fields = Readonly<Record<string, unknown>>

type FoundIntent = { readonly work: UnitOfWork; readonly intent: PaymentIntent | SetupIntent }

/** Shows the page on which the customer's bank requests authentication (3-D Secure). */
export function showAuthentication(parts: PageParts, id: string, fields: Fields): PageAnswer {
  const open = findIntent(parts, id, fields)
  if (open === undefined) return noIntent()
  const { intent } = open
  if (intent.status !== 'requires_action') return alreadyEnded(intent)
  const secret = hiddenFields({ client_secret: intent.client_secret })
  return htmlAnswer(
    page(
      'Your bank asks',
      `<form class="card narrow" method="post">${secret}
<p>${escapeHtml(purposeOf(intent))}</p>
<p>Are you the cardholder?</p>
<div class="actions"><button class="button main" name="answer" value="accept">Yes, it is me</button>
<button class="button" name="answer" value="refuse">No</button></div></form>`,
    ),
  )
}

export function answerAuthentication(parts: PageParts, id: string, fields: Fields): PageAnswer {
  const open = findIntent(parts, id, fields)
  if (open === undefined) return noIntent()
  const { work, intent } = open
  if (intent.status !== 'requires_action') return alreadyEnded(intent)
  const isAccepted = fields['answer'] === 'accept'
  if (intent.object === 'payment_intent') authenticatePayment(work, id, isAccepted)
  else authenticateSetup(work, id, isAccepted)
  const ended = work.require(intent.object, id)
  work.commit()
  return redirectBack(ended, ended.simulator.returnUrl)
}

/** Shows the card form that replaces Stripe's. After a success, the browser is redirected to `return_url`. */
export function showCardForm(
  parts: PageParts,
  id: string,
  fields: Fields,
  errorMessage?: string,
): PageAnswer {
  const open = findIntent(parts, id, fields)
  if (open === undefined) return noIntent()
  const { intent } = open
  if (!isOpen(intent)) return alreadyEnded(intent)
  const returnUrl = returnUrlOf(fields)
  const isPayment = intent.object === 'payment_intent'
  const content = cardForm({
    purpose: purposeOf(intent),
    submit: isPayment ? `Pay ${formatAmount(intent.amount, intent.currency)}` : 'Save card',
    errorMessage,
    context: {
      client_secret: intent.client_secret,
      ...(returnUrl !== null && { return_url: returnUrl }),
    },
    number: textOf(fields['number']) || offeredCards[0].number,
    month: textOf(fields['exp_month']) || '12',
    year: textOf(fields['exp_year']) || String(nextYear(parts)),
    securityCode: textOf(fields['cvc']) || '123',
    isJustChosen: errorMessage === undefined && fields['number'] !== undefined,
  })
  const status = errorMessage === undefined ? 200 : 402
  return htmlAnswer(page(isPayment ? 'Pay by card' : 'Save a card', content), status)
}

export function submitCardForm(parts: PageParts, id: string, fields: Fields): PageAnswer {
  const open = findIntent(parts, id, fields)
  if (open === undefined) return noIntent()
  const { work, intent } = open
  if (!isOpen(intent)) return alreadyEnded(intent)
  const returnUrl = returnUrlOf(fields)
  try {
    const card = {
      number: textOf(fields['number']),
      exp_month: Number(fields['exp_month']),
      exp_year: Number(fields['exp_year']),
    }
    const confirmation = {
      payment_method: createPaymentMethod(work, card).id,
      return_url: returnUrl ?? undefined,
    }
    if (intent.object === 'payment_intent') confirmPaymentIntent(work, id, confirmation)
    else confirmSetupIntent(work, id, confirmation)
  } catch (error) {
    if (!(error instanceof StripeApiError)) throw error
    return showCardForm(parts, id, fields, error.message)
  }
  const tried = work.require(intent.object, id)
  work.commit()
  if (tried.status === 'requires_action') {
    return { kind: 'redirect', url: `/_simulator/3ds/${id}?client_secret=${tried.client_secret}` }
  }
  const { message } = lastErrorOf(tried) ?? {}
  if (message !== undefined) return showCardForm(parts, id, fields, message)
  return redirectBack(tried, returnUrl)
}

function findIntent(
  { store, clock }: PageParts,
  id: string,
  fields: Fields,
): FoundIntent | undefined {
  for (const mode of ['test', 'live'] as const) {
    const work = new UnitOfWork({ store, mode, nowMs: clock.now() })
    const intent = work.find('payment_intent', id) ?? work.find('setup_intent', id)
    if (intent !== undefined && intent.client_secret === fields['client_secret']) {
      return { work, intent }
    }
  }
  return undefined
}

/** Redirects to the return URL with the parameters that Stripe adds. */
function redirectBack(intent: PaymentIntent | SetupIntent, returnUrl: string | null): PageAnswer {
  if (returnUrl === null) return alreadyEnded(intent)
  const url = new URL(returnUrl)
  const isDone = intent.status === 'succeeded' || intent.status === 'processing'
  url.searchParams.set(intent.object, intent.id)
  url.searchParams.set(`${intent.object}_client_secret`, intent.client_secret)
  url.searchParams.set('redirect_status', isDone ? 'succeeded' : 'failed')
  return { kind: 'redirect', url: url.href }
}

function purposeOf(intent: PaymentIntent | SetupIntent): string {
  if (intent.object === 'setup_intent') return 'The card is saved for later payments.'
  return `A payment of ${formatAmount(intent.amount, intent.currency)}.`
}

function lastErrorOf(intent: PaymentIntent | SetupIntent): { readonly message: string } | null {
  return intent.object === 'payment_intent' ? intent.last_payment_error : intent.last_setup_error
}

function isOpen({ status }: PaymentIntent | SetupIntent): boolean {
  return status === 'requires_payment_method' || status === 'requires_confirmation'
}

/** Returns the return URL if it is an HTTP URL. A `javascript:` URL would run as a script of the page. */
function returnUrlOf(fields: Fields): string | null {
  const url = textOf(fields['return_url'])
  try {
    return /^https?:$/.test(new URL(url).protocol) ? url : null
  } catch {
    return null
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function nextYear({ clock }: PageParts): number {
  return new Date(clock.now()).getUTCFullYear() + 1
}

function alreadyEnded({ status }: PaymentIntent | SetupIntent): PageAnswer {
  return htmlAnswer(
    page(
      'Nothing to do',
      `<p>This payment has the status ${escapeHtml(status)}. You can close this page.</p>`,
    ),
  )
}

function noIntent(): PageAnswer {
  return htmlAnswer(
    page('Not found', '<p>No payment has this address, or the link is incomplete.</p>'),
    404,
  )
}

function htmlAnswer(html: string, status = 200): PageAnswer {
  return { kind: 'page', status, html }
}

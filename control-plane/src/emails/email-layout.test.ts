import { emailKinds, noticeKinds } from '@tollgate/schemas/http/emails'
import { pageLanguages } from '@tollgate/schemas/http/page-locale'
import { describe, expect, test } from 'vitest'
import { composeEmail, type EmailInput, type Sender } from './compose-email.ts'
import { previewEmail } from './preview-email.ts'

const hostedUrl = 'https://billing.example'

const sender: Sender = {
  name: 'Acme',
  legalName: 'Acme Search Ltd',
  accentColor: '#0f766e',
  logoUrl: null,
  supportEmail: 'help@acme.example',
  address: ['1 Canal Street', 'London N1 9XY'],
  fromName: 'Acme',
  replyTo: null,
}

const settings = { kinds: [], senderName: null, replyTo: null, locale: null, sandboxRecipients: [] }

function preview(kind: (typeof emailKinds)[number], locale: string) {
  return previewEmail({ kind, locale, sender, settings, environment: 'live', hostedUrl })
}

/** Returns the text that a reader of the HTML part sees. */
function visibleText(html: string): string {
  const body = html.replace(/^.*<body/s, '<body').replaceAll(/<[^>]*>/g, ' ')
  return body
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

const all = emailKinds.flatMap((kind) => pageLanguages.map((language) => [kind, language] as const))

describe.each(all)('%s in %s', (kind, language) => {
  const { subject, text, html } = preview(kind, language)

  test('has no missing text and no unfilled value', () => {
    for (const part of [subject, text, html]) expect(part).not.toMatch(/\{\{|emails:|undefined/)
    expect(html).toContain(`<html lang="${language}">`)
  })

  test('differs from English', () => {
    if (language === 'en') return
    const english = preview(kind, 'en')
    expect(subject).not.toBe(english.subject)
    expect(text.split('\n')[0]).not.toBe(english.text.split('\n')[0])
  })

  test('states the same in both parts', () => {
    const seen = visibleText(html)
    const lines = text.split('\n').filter((line) => line !== '' && line !== '--')
    for (const line of lines) {
      if (line.startsWith(hostedUrl)) expect(html).toContain(`href="${line}"`)
      else for (const word of line.split(/[:\s]+/)) expect(seen).toContain(word)
    }
    expect(text).toContain('Acme')
  })

  test('can be unsubscribed from only if it is a notice', () => {
    const links = [...html.matchAll(/href="(https:[^"]*)"/g)]
    const expected = (kind === 'receipt' ? 0 : 1) + (noticeKinds.has(kind) ? 1 : 0)
    expect(links).toHaveLength(expected)
  })
})

describe('names that people typed', () => {
  const input: EmailInput = {
    facts: {
      kind: 'plan_changed',
      facts: {
        ...{ product: '<b>Search</b>', plan: '"Pro" & more', before: null },
        ...{ isSamePlan: false, ahead: null },
      },
    },
    sender,
    settings: { locale: null },
    customer: { name: null, locale: null },
    isSandbox: false,
    accountUrl: 'https://billing.example/customer/connect/1?a=1&b="2"',
    accountMs: 86_400_000,
    unsubscribeUrl: 'https://billing.example/customer/emails/1/unsubscribe',
  }

  test('are escaped in the HTML part', () => {
    const hostile = '<script>alert(1)</script><img src=x onerror=alert(1)>'
    const named = { ...input, customer: { name: hostile, locale: null } }
    const { html } = composeEmail({ ...named, sender: { ...sender, legalName: hostile } })
    expect(html).not.toMatch(/<script|<img|<b>/)
    expect(html).toContain('&lt;b&gt;Search&lt;/b&gt;')
    expect(html).toContain('&quot;Pro&quot; &amp; more')
    expect(html).toContain(
      'href="https://billing.example/customer/connect/1?a=1&amp;b=&quot;2&quot;"',
    )
  })

  test.each([
    ['Ada\r\nBcc: victim@example.com', 'Ada Bcc: victim @ example\u2024com'],
    ['Win at https://evil.example/now', 'Win at https evil\u2024example/now'],
    ['Ad\u202ea\u0007\u200b', 'Ada'],
    ['x'.repeat(10_000), 'x'.repeat(80)],
  ])('a customer called %j is greeted as %j', (name, greeted) => {
    const { text } = composeEmail({ ...input, customer: { name, locale: null } })
    expect(text).toContain(`Hello ${greeted},\n`)
  })

  test.each([null, '', '\u202e'])('a customer called %j is greeted without a name', (name) => {
    const { text } = composeEmail({ ...input, customer: { name, locale: null } })
    expect(text).toContain('\nHello,\n')
  })
})

test('the language is that of the customer, then of the provider, then English', () => {
  const { subject } = preview('trial_ending', 'de')
  const input = (customer: string | null, provider: string | null) => {
    const kind = 'trial_ending' as const
    const given = { ...settings, locale: provider }
    return previewEmail({
      kind,
      locale: customer,
      sender,
      settings: given,
      environment: 'live',
      hostedUrl,
    })
  }
  expect(input('de', 'fr').subject).toBe(subject)
  expect(input(null, 'de').subject).toBe(subject)
  expect(input(null, null).subject).toMatch(/^Your trial/)
})

test('the sandbox is marked in both parts', () => {
  const { text, html } = previewEmail({
    ...{ kind: 'receipt', locale: 'en', sender, settings, hostedUrl },
    environment: 'sandbox',
  })
  for (const part of [text, html]) expect(part).toContain('Test mode')
})

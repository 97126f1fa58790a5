import { describe, expect, test } from 'vitest'
import { addressOf, messageOf, type ComposedEmail } from './message.ts'

const email: ComposedEmail = {
  reference: 'eml_1',
  fromName: 'Acme',
  fromAddress: 'billing@acme.example',
  replyTo: 'help@acme.example',
  recipient: 'ada@example.com',
  subject: 'Your receipt',
  text: 'Text',
  html: '<p>Text</p>',
  attachment: null,
  unsubscribeUrl: null,
  createdAt: new Date('2026-03-01T00:00:00Z'),
}

async function sourceOf(change: Partial<ComposedEmail>): Promise<string> {
  const mail = await messageOf({ ...email, ...change })
  return mail!.message.toString()
}

/** Returns the header lines, each with its folded lines. */
async function headersOf(change: Partial<ComposedEmail>): Promise<string[]> {
  const [head = ''] = (await sourceOf(change)).split('\r\n\r\n')
  return head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
}

describe('a message', () => {
  test('has the same Message-ID and date for every attempt, and is marked as automatic', async () => {
    for (const headers of [await headersOf({}), await headersOf({})]) {
      expect(headers).toEqual(
        expect.arrayContaining([
          'From: Acme <billing@acme.example>',
          'To: ada@example.com',
          'Reply-To: help@acme.example',
          'Message-ID: <eml_1@acme.example>',
          'Date: Sun, 01 Mar 2026 00:00:00 +0000',
          'Auto-Submitted: auto-generated',
        ]),
      )
    }
  })

  test('has a text part, an HTML part and the PDF', async () => {
    const attachment = { fileName: 'INV-000042.pdf', pdf: Buffer.from('%PDF') }
    const source = await sourceOf({ attachment })
    expect(source).toMatch(/Content-Type: text\/plain; charset=utf-8/)
    expect(source).toMatch(/Content-Type: text\/html; charset=utf-8/)
    expect(source).toMatch(/Content-Type: application\/pdf; name=INV-000042\.pdf/)
    expect(source).toMatch(/Content-Disposition: attachment; filename=INV-000042\.pdf/)
  })

  test('has the headers of one-click unsubscription only for notices', async () => {
    const unsubscribeUrl = 'https://billing.example/customer/emails/1/unsubscribe'
    expect(await headersOf({ unsubscribeUrl })).toEqual(
      expect.arrayContaining([
        `List-Unsubscribe: <${unsubscribeUrl}>`,
        'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      ]),
    )
    expect((await headersOf({})).join()).not.toContain('List-')
  })

  test.each<Partial<ComposedEmail>>([
    { subject: 'Receipt\r\nBcc: victim@example.com\r\n\r\nBody' },
    { fromName: 'Acme"\r\nBcc: victim@example.com' },
    { fromName: 'Acme <victim@example.com>, "x' },
    { replyTo: 'help@acme.example\r\nBcc: victim@example.com' },
    { replyTo: 'help@acme.example, victim@example.com' },
    { subject: 'x'.repeat(400) },
    { fromName: '名'.repeat(80), subject: 'é'.repeat(2_000) },
  ])('takes no header and no address from %j', async (change) => {
    const plain = (await headersOf({})).map((line) => line.split(':')[0])
    const headers = await headersOf(change)
    const names = headers.map((line) => line.split(':')[0])
    expect(plain).toEqual(expect.arrayContaining(names))
    expect(new Set(names).size).toBe(names.length)
    expect(headers.filter((line) => /^(To|Reply-To):.*victim/i.test(line))).toEqual([])
    const mail = await messageOf({ ...email, ...change })
    expect(mail?.envelope).toEqual({ from: 'billing@acme.example', to: ['ada@example.com'] })
    // RFC 5321 allows 998 characters in a line.
    const lines = mail!.message.toString('latin1').split('\r\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998)
  })

  test.each([
    'a@example.com, b@example.com',
    'a@example.com\r\nRCPT TO:<b@example.com>',
    'a@example.com>',
    'Ada <a@example.com>',
    'a@b@example.com',
    'someone with spaces@auto-created.local',
    'a@localhost',
    'a\u202e@example.com',
    '',
  ])('is not made for the recipient %j', async (recipient) => {
    expect(await messageOf({ ...email, recipient })).toBeUndefined()
  })

  test('writes an international domain as its ASCII form in the envelope', async () => {
    const mail = await messageOf({ ...email, recipient: 'ada@bücher.example' })
    expect(mail?.envelope.to).toEqual(['ada@xn--bcher-kva.example'])
  })
})

test.each([
  ['Acme <Billing@Acme.example>', 'billing@acme.example'],
  ['billing@acme.example', 'billing@acme.example'],
  ['Tollgate <no-reply@localhost>', 'no-reply@localhost'],
  ['Acme', ''],
  ['', ''],
  ['<a@b.example, c@d.example>', ''],
])('the address of the sender %j is %j', (sender, address) => {
  expect(addressOf(sender)).toBe(address)
})

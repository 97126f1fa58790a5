import { Accordion, Group, Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import { formatAmount, formatCount } from '../formats/amounts.ts'
import { formatFraction } from '../formats/fractions.ts'
import { Facts } from '../parts/facts.tsx'
import { Time } from '../parts/time.tsx'
import type { Invoice, InvoiceLine } from './invoice.ts'

/** Shows the lines of the invoice. An opened line shows the numbers from which its amount was computed. */
export function InvoiceLines({ invoice }: { readonly invoice: Invoice }): ReactElement {
  const { lines, taxes, currency } = invoice
  return (
    <Stack gap="xs">
      <Accordion multiple variant="separated" chevronPosition="left" order={3}>
        {lines.map((line, index) => (
          <Accordion.Item key={`${index} ${line.kind}`} value={String(index)}>
            <Accordion.Control>
              <Group justify="space-between" wrap="nowrap">
                <Text size="sm">{line.description}</Text>
                <Text size="sm">{formatAmount(line.amount, currency)}</Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <LineDetails line={line} />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {taxes.map((tax) => (
        <Group key={`${tax.country ?? ''} ${tax.region ?? ''} ${tax.rate}`} justify="space-between">
          <Text size="sm" c="dimmed">
            {taxText(tax)}
          </Text>
          <Text size="sm">{formatAmount(tax.amount, currency)}</Text>
        </Group>
      ))}
    </Stack>
  )
}

function taxText({ treatment, rate, country, base, inclusive }: Invoice['taxes'][number]): string {
  if (treatment === 'reverse_charge') return 'Reverse charge: the customer owes the tax'
  if (treatment === 'none') return base === 0 ? 'No tax' : 'Not taxed'
  const percent = `${formatCount(rate * 100)}%`
  return `Tax ${percent}${country === undefined ? '' : ` (${country})`}${inclusive ? ', included in the prices' : ''}`
}

/** Shows the inputs of the line under their names in the API, and its amount before rounding. */
function LineDetails({ line }: { readonly line: InvoiceLine }): ReactElement {
  const { periodStart, periodEnd, exact, inputs, kind } = line
  const period =
    periodStart === undefined || periodEnd === undefined
      ? []
      : [
          { label: 'From', value: <Time instant={periodStart} /> },
          { label: 'Until', value: <Time instant={periodEnd} /> },
        ]
  return (
    <Facts
      facts={[
        { label: 'Kind', value: kind.replaceAll('_', ' ') },
        ...period,
        ...Object.entries(inputs)
          .filter(([label]) => label !== 'kind')
          .map(([label, value]) => ({ label, value: inputText(value) })),
        {
          label: 'Exact amount, in minor units',
          value: formatFraction(exact.numerator, exact.denominator),
        },
      ]}
    />
  )
}

function inputText(value: unknown): string {
  if (typeof value === 'number') return formatCount(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

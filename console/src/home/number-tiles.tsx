import { Paper, Text } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import { formatAmount, formatCount, formatNumberOf } from '../formats/amounts.ts'
import { PageLink } from '../parts/page-link.tsx'
import { useApi } from '../session/environment-api.tsx'
import styles from './number-tiles.module.css'
import type { Numbers, Overview } from './overview.ts'

/** Shows the numbers of today and of 30 days. Each leads to the list behind it. */
export function NumberTiles({ overview }: { readonly overview: Overview }): ReactElement {
  const { environment } = useApi()
  const { total, days, timeZone } = overview
  const today = days.at(-1) ?? total
  const params = { environment }
  return (
    <ul className={styles['tiles']} aria-label="Numbers">
      <Tile
        label={
          <PageLink
            to="/$environment/usage"
            params={params}
            search={{ zone: timeZone, outcome: 'all', group: 'outcome' }}
          >
            Events
          </PageLink>
        }
        {...periods(today, total, ({ events }) => shownCount(events))}
      />
      <Tile
        label={
          <PageLink
            to="/$environment/usage"
            params={params}
            search={{ zone: timeZone, group: 'customer' }}
          >
            Active customers
          </PageLink>
        }
        {...periods(today, total, ({ activeCustomers }) => shownCount(activeCustomers))}
        note={`${formatNumberOf(overview.customers, 'customer')} in all`}
      />
      <Tile
        label={
          <PageLink to="/$environment/invoices" params={params} search={{ status: 'paid' }}>
            Revenue
          </PageLink>
        }
        {...periods(today, total, ({ revenue }) => shownRevenue(revenue))}
        note="Paid less refunded and disputed, with tax"
      />
      <Tile
        label={
          <PageLink to="/$environment/purchases" params={params} search={{ status: 'active' }}>
            MRR
          </PageLink>
        }
        value={shownMrr(overview)}
        note={overview.mrrIsExact ? 'Recurring revenue of a month' : 'Estimated: many own prices'}
      />
      <CreditTiles today={today} total={total} />
    </ul>
  )
}

/** No list has the credits of all customers, so these numbers lead to their days. */
function CreditTiles(props: { readonly today: Numbers; readonly total: Numbers }): ReactElement {
  const { today, total } = props
  const { environment } = useApi()
  const params = { environment }
  return (
    <>
      <Tile
        label={
          <PageLink
            to="/$environment"
            params={params}
            search={{ number: 'creditsSold' }}
            hash="by-day"
          >
            Credits sold
          </PageLink>
        }
        {...periods(today, total, ({ creditsSold }) => formatCount(creditsSold))}
      />
      <Tile
        label={
          <PageLink
            to="/$environment"
            params={params}
            search={{ number: 'creditsUsed' }}
            hash="by-day"
          >
            Credits used
          </PageLink>
        }
        {...periods(today, total, ({ creditsUsed }) => shownCount(creditsUsed))}
      />
    </>
  )
}

function Tile(props: {
  readonly label: ReactNode
  readonly value: string
  readonly today?: string
  readonly note?: string
}): ReactElement {
  const { label, value, today, note } = props
  return (
    <Paper component="li" withBorder p="sm" radius="md">
      {label}
      <Text fw={700} size="xl" style={{ overflowWrap: 'anywhere' }}>
        {value}
      </Text>
      {today !== undefined && <Text size="sm">{today}</Text>}
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Paper>
  )
}

function periods(
  today: Numbers,
  total: Numbers,
  shown: (numbers: Numbers) => string,
): { readonly value: string; readonly today: string } {
  return { value: shown(total), today: `${shown(today)} today` }
}

/** Numbers of usage are missing while stored usage cannot be read. */
function shownCount(value: number | string | undefined): string {
  return value === undefined ? 'Unknown' : formatCount(value)
}

function shownRevenue(revenue: Numbers['revenue']): string {
  return shownAmounts(revenue.map(({ net, currency }) => formatAmount(net, currency)))
}

function shownMrr({ mrr }: Overview): string {
  return shownAmounts(mrr.map(({ amount, currency }) => formatAmount(amount, currency)))
}

function shownAmounts(amounts: readonly string[]): string {
  return amounts.length === 0 ? '0' : amounts.join(' + ')
}

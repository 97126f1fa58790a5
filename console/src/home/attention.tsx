import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import { installationUrl } from '../api/addresses.ts'
import { formatAmount, formatCount, formatNumberOf } from '../formats/amounts.ts'
import { CustomerLink } from '../parts/customer-link.tsx'
import { Empty } from '../parts/empty.tsx'
import { InvoiceLink } from '../parts/invoice-link.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { RowsTable } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import type { Overview } from './overview.ts'

type Props = { readonly overview: Overview }

/** Stored usage is usually seconds behind. */
const lagSecondsMax = 60

/** Shows what needs attention, and nothing else. */
export function Attention({ overview }: Props): ReactElement {
  const { nearLimits, failedPayments, failingEndpoints, secondsBehind = 0 } = overview
  const isLagging = secondsBehind > lagSecondsMax
  const isCalm =
    nearLimits.length === 0 &&
    failedPayments.total === 0 &&
    failingEndpoints.length === 0 &&
    !isLagging
  return (
    <Stack>
      {isLagging && <Lag seconds={secondsBehind} />}
      {overview.total.events === undefined && (
        <Text size="sm">
          Stored usage cannot be read at the moment. Numbers of usage are missing on this page.
        </Text>
      )}
      {failedPayments.total > 0 && <FailedPayments overview={overview} />}
      {failingEndpoints.length > 0 && <FailingEndpoints overview={overview} />}
      {nearLimits.length > 0 && <NearLimits overview={overview} />}
      {isCalm && (
        <Empty title="Nothing needs attention">
          Failed payments, failing webhook endpoints and customers near their limits appear here.
        </Empty>
      )}
      {!overview.hasLimitAlert && (
        <Text size="sm" c="dimmed">
          Customers near their limits appear after you create an alert on limits with{' '}
          <Anchor size="sm" underline="always" href={`${installationUrl}/docs`}>
            POST /v1/ui/alerts
          </Anchor>
          .
        </Text>
      )}
    </Stack>
  )
}

function Subject(props: { readonly title: ReactNode; readonly children: ReactNode }): ReactElement {
  return (
    <Stack gap={4}>
      <Title order={3} size="h5">
        {props.title}
      </Title>
      {props.children}
    </Stack>
  )
}

function Lag({ seconds }: { readonly seconds: number }): ReactElement {
  return (
    <Subject title="Usage is behind">
      <Text size="sm">
        The newest usage on these pages is {formatNumberOf(Math.round(seconds / 60), 'minute')} old.
        Limits and wallets are not affected. If this grows, the operator of the installation can
        look at the aggregator.
      </Text>
    </Subject>
  )
}

function FailedPayments({ overview }: Props): ReactElement {
  const { environment } = useApi()
  const { newest, total } = overview.failedPayments
  return (
    <Subject title={`${formatNumberOf(total, 'failed payment')}`}>
      <RowsTable
        label="Failed payments"
        columns={[
          {
            label: 'Invoice',
            cell: ({ invoiceRef }) => (
              <InvoiceLink invoiceRef={invoiceRef}>{invoiceRef}</InvoiceLink>
            ),
          },
          {
            label: 'Customer',
            cell: ({ customerRef }) => (
              <CustomerLink customerRef={customerRef}>{customerRef}</CustomerLink>
            ),
          },
          {
            label: 'Amount',
            cell: ({ amount, currency }) => formatAmount(amount, currency),
            isNumber: true,
          },
          { label: 'Failed', cell: ({ failedAt }) => <Time instant={failedAt} /> },
          {
            label: 'Next charge',
            cell: ({ nextChargeAt }) =>
              nextChargeAt === undefined ? 'None' : <Time instant={nextChargeAt} />,
          },
        ]}
        rows={newest}
        keyOf={({ invoiceRef }) => invoiceRef}
      />
      <PageLink to="/$environment/invoices" params={{ environment }} search={{ status: 'open' }}>
        All open invoices
      </PageLink>
    </Subject>
  )
}

function FailingEndpoints({ overview }: Props): ReactElement {
  const { environment } = useApi()
  return (
    <Subject title="Failing webhook endpoints">
      <RowsTable
        label="Failing webhook endpoints"
        columns={[
          {
            label: 'Endpoint',
            cell: ({ reference }) => (
              <PageLink
                to="/$environment/webhooks/$endpointId"
                params={{ environment, endpointId: reference }}
              >
                {reference}
              </PageLink>
            ),
          },
          { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
          {
            label: 'Failed attempts',
            cell: ({ failedAttempts }) => formatCount(failedAttempts),
            isNumber: true,
          },
          {
            label: 'Since',
            cell: ({ since }) => (since === undefined ? '' : <Time instant={since} />),
          },
        ]}
        rows={overview.failingEndpoints}
        keyOf={({ reference }) => reference}
      />
    </Subject>
  )
}

function NearLimits({ overview }: Props): ReactElement {
  return (
    <Subject title="Customers near a limit">
      <RowsTable
        label="Customers near a limit"
        columns={[
          {
            label: 'Customer',
            cell: ({ customerRef, customerEmail }) => (
              <CustomerLink customerRef={customerRef}>{customerEmail ?? customerRef}</CustomerLink>
            ),
          },
          { label: 'Limit', cell: ({ limit = '' }) => limit },
          {
            label: 'Used',
            cell: ({ value, whole }) =>
              whole === undefined
                ? formatCount(value)
                : `${formatCount(value)} of ${formatCount(whole)}`,
            isNumber: true,
          },
          { label: 'Reached', cell: ({ reachedAt }) => <Time instant={reachedAt} /> },
        ]}
        rows={overview.nearLimits}
        keyOf={({ customerRef, limit = '', purchaseRef = '', value }) =>
          [customerRef, purchaseRef, limit, value].join(' ')
        }
      />
    </Subject>
  )
}

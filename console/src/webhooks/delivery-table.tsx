import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatCount } from '../formats/amounts.ts'
import { PageLink } from '../parts/page-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { resultText } from './result-text.ts'

type Delivery = Answer<'listWebhookDeliveries'>['deliveries'][number]

/** Shows deliveries with the result of their last attempts. */
export function DeliveryTable(props: { readonly deliveries: readonly Delivery[] }): ReactElement {
  return (
    <RowsTable
      label="Deliveries"
      columns={columns}
      rows={props.deliveries}
      keyOf={({ id }) => id}
    />
  )
}

function DeliveryLink({ id, type }: Pick<Delivery, 'id' | 'type'>): ReactElement {
  const { environment } = useApi()
  return (
    <PageLink to="/$environment/deliveries/$deliveryId" params={{ environment, deliveryId: id }}>
      {type}
    </PageLink>
  )
}

const columns: readonly Column<Delivery>[] = [
  { label: 'Event', cell: DeliveryLink },
  { label: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
  {
    label: 'Attempts',
    cell: ({ attempts }) => formatCount(attempts.length),
    isNumber: true,
  },
  {
    label: 'Last answer',
    cell: ({ attempts }) => {
      const last = attempts.at(-1)
      return last === undefined ? '' : resultText(last)
    },
  },
  { label: 'Created', cell: ({ createdAt }) => <Time instant={createdAt} /> },
  {
    label: 'Next attempt',
    cell: ({ dueAt }) => (dueAt === undefined ? '' : <Time instant={dueAt} />),
  },
]

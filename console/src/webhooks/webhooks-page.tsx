import { Code, Paper, Stack } from '@mantine/core'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatCount } from '../formats/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { PageLink } from '../parts/page-link.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { CreateEndpoint } from './create-endpoint.tsx'

type Endpoint = Answer<'listWebhookEndpoints'>['webhookEndpoints'][number]

/** Shows the webhook endpoints of the environment. */
export function WebhooksPage(): ReactElement {
  const { hooks } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/webhook_endpoints', {})
  const { webhookEndpoints } = data
  return (
    <Stack>
      <PageHead
        title="Webhooks"
        text="Addresses of your servers that events are sent to."
        actions={<CreateEndpoint />}
      />
      <Paper withBorder p="xs" radius="md">
        {webhookEndpoints.length === 0 ? (
          <Empty title="No endpoints yet">
            Add the address of a server that receives events. The guide to webhooks has receivers in
            several languages.
          </Empty>
        ) : (
          <RowsTable
            label="Webhook endpoints"
            columns={columns}
            rows={webhookEndpoints}
            keyOf={({ id }) => id}
          />
        )}
      </Paper>
    </Stack>
  )
}

function EndpointLink({ id, url }: Pick<Endpoint, 'id' | 'url'>): ReactElement {
  const { environment } = useApi()
  return (
    <PageLink to="/$environment/webhooks/$endpointId" params={{ environment, endpointId: id }}>
      {url}
    </PageLink>
  )
}

const columns: readonly Column<Endpoint>[] = [
  { label: 'Address', cell: EndpointLink },
  { label: 'Reference', cell: ({ id }) => <Code>{id}</Code> },
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Events',
    cell: ({ enabledEvents }) =>
      enabledEvents.length === 0 ? 'All' : formatCount(enabledEvents.length),
    isNumber: true,
  },
  {
    label: 'Failed attempts',
    cell: ({ failureCount }) => formatCount(failureCount),
    isNumber: true,
  },
  { label: 'Created', cell: ({ createdAt }) => <Time instant={createdAt} isDay /> },
]

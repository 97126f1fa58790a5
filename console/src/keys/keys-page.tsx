import { Code, Paper, Stack } from '@mantine/core'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { CreateKey } from './create-key.tsx'
import { RevokeKey } from './revoke-key.tsx'

type ApiKey = Answer<'listApiKeys'>['apiKeys'][number]

/** Shows the secret keys of the environment. */
export function KeysPage(): ReactElement {
  const { environment } = useApi()
  const refusal = useRefusal('manage')
  return (
    <Stack>
      <PageHead
        title="API keys"
        text={`Secret keys with which programs call the API in ${environment}.`}
        actions={<CreateKey />}
      />
      <Paper withBorder p="xs" radius="md">
        {refusal === undefined ? <KeyTable /> : <Empty title="Not shown">{refusal}</Empty>}
      </Paper>
    </Stack>
  )
}

function KeyTable(): ReactElement {
  const { hooks } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/api-keys', {})
  if (data.apiKeys.length === 0) {
    return (
      <Empty title="No keys yet">
        Create one for each program. The documentation shows the first call with it.
      </Empty>
    )
  }
  return (
    <RowsTable
      label="API keys"
      columns={columns}
      rows={data.apiKeys}
      keyOf={({ keyId }) => keyId}
    />
  )
}

const columns: readonly Column<ApiKey>[] = [
  { label: 'Name', cell: ({ name }) => name ?? 'Without a name' },
  {
    label: 'Key',
    cell: ({ environment, last4 }) => (
      <Code>
        sk_{environment}_…{last4}
      </Code>
    ),
  },
  { label: 'Permissions', cell: ({ scopes }) => scopes.join(', ') },
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Created', cell: ({ createdAt }) => <Time instant={createdAt} isDay /> },
  {
    label: 'Expires',
    cell: ({ expiresAt }) => (expiresAt === undefined ? 'Never' : <Time instant={expiresAt} />),
  },
  {
    label: 'Actions',
    cell: ({ keyId, name, last4, status }) =>
      status === 'active' ? <RevokeKey keyId={keyId} name={name ?? `…${last4}`} /> : null,
  },
]

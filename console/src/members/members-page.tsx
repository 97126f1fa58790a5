import { Group, Paper, Stack } from '@mantine/core'
import type { ReactElement } from 'react'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { InviteMember, MemberActions } from './member-actions.tsx'
import type { Member } from './member.ts'

/** Shows the people who can sign in to the console. They have the same roles in both environments. */
export function MembersPage(): ReactElement {
  const refusal = useRefusal('manage')
  return (
    <Stack>
      <PageHead
        title="Members"
        text="People who can sign in here, in the sandbox and live alike."
        actions={<InviteMember />}
      />
      <Paper withBorder p="xs" radius="md">
        {refusal === undefined ? <MemberTable /> : <Empty title="Not shown">{refusal}</Empty>}
      </Paper>
    </Stack>
  )
}

function MemberTable(): ReactElement {
  const { hooks } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/users', {})
  return (
    <RowsTable label="Members" columns={columns} rows={data.users} keyOf={({ userId }) => userId} />
  )
}

const columns: readonly Column<Member>[] = [
  { label: 'Name', cell: ({ name }) => name ?? '' },
  { label: 'Email', cell: ({ email }) => email },
  { label: 'Role', cell: ({ role }) => role },
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { label: 'Since', cell: ({ createdAt }) => <Time instant={createdAt} isDay /> },
  {
    label: 'Actions',
    cell: (member) => (
      <Group gap="xs">
        <MemberActions member={member} />
      </Group>
    ),
  },
]

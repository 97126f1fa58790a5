import { Button, Code, Group, Paper, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import type { AuditSearch } from './audit-search.ts'

type Entry = Answer<'listAuditEntries'>['entries'][number]

const route = getRouteApi('/$environment/audit')
const searchDelayMs = 400

/** Shows who changed what, newest first. */
export function AuditPage(): ReactElement {
  const { hooks } = useApi()
  const search = route.useSearch()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/audit-log', { params: { query: search } })
  const { next } = data
  return (
    <Stack>
      <PageHead title="Audit log" text="Every change of data, with who made it." />
      <Group>
        <Filter name="actor" label="Actor" placeholder="user:usr_… or key:key_…" />
        <Filter name="reference" label="Reference" placeholder="Of the changed object" />
      </Group>
      <Paper withBorder p="xs" radius="md">
        {data.entries.length === 0 ? (
          <Empty title="No entries">An entry follows each change, by a person or a program.</Empty>
        ) : (
          <RowsTable
            label="Audit log"
            columns={columns}
            rows={data.entries}
            keyOf={({ id }) => id}
          />
        )}
      </Paper>
      <Older next={next} />
    </Stack>
  )
}

/** A field of the query. It applies after a pause, independently of the other fields. */
function Filter(props: {
  readonly name: 'actor' | 'reference'
  readonly label: string
  readonly placeholder: string
}): ReactElement {
  const { name, label, placeholder } = props
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const find = useDebouncedCallback((text: string) => {
    void navigate({
      search: ({ before: _, [name]: __, ...rest }): AuditSearch =>
        text.trim() === '' ? rest : { ...rest, [name]: text.trim() },
      replace: true,
    })
  }, searchDelayMs)
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      defaultValue={search[name] ?? ''}
      onChange={(event) => {
        find(event.currentTarget.value)
      }}
    />
  )
}

function Older({ next }: { readonly next: string | null }): ReactElement {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Group justify="flex-end" gap="xs">
      {search.before !== undefined && (
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            const { before: _, ...rest } = search
            void navigate({ search: rest })
          }}
        >
          Newest
        </Button>
      )}
      {next !== null && (
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            void navigate({ search: { ...search, before: next } })
          }}
        >
          Older
        </Button>
      )}
    </Group>
  )
}

const actions = { insert: 'Created', update: 'Changed', delete: 'Deleted' } as const

const columns: readonly Column<Entry>[] = [
  { label: 'Time', cell: ({ at }) => <Time instant={at} /> },
  { label: 'Actor', cell: ({ actor }) => <Code>{actor}</Code> },
  { label: 'Operation', cell: ({ operation }) => operation },
  {
    label: 'Change',
    cell: ({ action, kind, changedColumns }) =>
      `${actions[action]} ${kind.replaceAll('_', ' ')}${
        changedColumns === null ? '' : `: ${changedColumns.join(', ')}`
      }`,
  },
  { label: 'Reference', cell: ({ reference }) => <Code>{reference}</Code> },
]

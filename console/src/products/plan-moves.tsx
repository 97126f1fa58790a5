import { Group, Stack } from '@mantine/core'
import type { ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { formatCount } from '../formats/amounts.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { Empty } from '../parts/empty.tsx'
import { RowsTable, type Column } from '../parts/rows-table.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Time } from '../parts/time.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
import { MoveHolders } from './move-holders.tsx'
import type { Plan, PlanPath } from './plan.ts'

type Move = Answer<'listPlanMigrations'>['migrations'][number]

const shownMax = 10

/** Shows the moves of holders to terms of the plan, newest first. */
export function PlanMoves(props: { readonly plan: Plan; readonly path: PlanPath }): ReactElement {
  const { plan, path } = props
  const { hooks } = useApi()
  const { productRef, planRef } = path
  const { data } = hooks.useSuspenseQuery(
    'get',
    '/v1/sdk/products/{productRef}/plans/{planRef}/migrations',
    { params: { path: { productRef, planRef }, query: { limit: shownMax } } },
  )
  return (
    <Stack gap="xs">
      <Group>
        <MoveHolders plan={plan} path={path} />
      </Group>
      {data.migrations.length === 0 ? (
        <Empty title="No holder was moved">
          A purchase keeps the terms of the time when it began, until you move it.
        </Empty>
      ) : (
        <RowsTable
          label="Moves"
          columns={columns}
          rows={data.migrations}
          keyOf={({ reference }) => reference}
        />
      )}
    </Stack>
  )
}

/** What can be done with a move in each state. */
const steps: Readonly<Record<Move['status'], readonly Step[]>> = {
  running: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
  done: ['cancel'],
  cancelling: [],
  cancelled: [],
}

type Step = 'pause' | 'resume' | 'cancel'

const stepTexts: Readonly<Record<Step, { readonly label: string; readonly text: string }>> = {
  pause: {
    label: 'Pause',
    text: 'No further purchases are scheduled. Changes that are scheduled already take effect.',
  },
  resume: { label: 'Resume', text: 'The remaining purchases are scheduled.' },
  cancel: {
    label: 'Cancel',
    text: 'Changes that did not take effect yet are withdrawn. What has moved stays moved.',
  },
}

function MoveStep({ move, step }: { readonly move: Move; readonly step: Step }): ReactElement {
  const { label } = stepTexts[step]
  return (
    <Action label={label} title={`${label} the move`} refusal={useRefusal('manage')}>
      {(dialog) => <StepForm move={move} step={step} {...dialog} />}
    </Action>
  )
}

function StepForm(props: { readonly move: Move; readonly step: Step } & Dialog): ReactElement {
  const { move, step, idempotencyKey, close } = props
  const { hooks } = useApi()
  const { productRef, planRef, reference: migrationRef } = move
  const { label, text } = stepTexts[step]
  const change = hooks.useMutation(
    'post',
    `/v1/sdk/products/{productRef}/plans/{planRef}/migrations/{migrationRef}/${step}`,
    {
      onSuccess: ({ status }) => {
        showChanged(`The move is ${status}.`)
        close()
      },
    },
  )
  return (
    <ActionForm
      text={text}
      submitLabel={`${label} the move`}
      closeLabel="Close"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { productRef, planRef, migrationRef } },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    />
  )
}

const columns: readonly Column<Move>[] = [
  { label: 'Started', cell: ({ createdAt }) => <Time instant={createdAt} /> },
  { label: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    label: 'Takes effect',
    cell: ({ when }) => (when === 'now' ? 'Within the period' : 'With the renewal'),
  },
  {
    label: 'Scheduled',
    cell: ({ progress }) => formatCount(progress.scheduled),
    isNumber: true,
  },
  { label: 'Moved', cell: ({ progress }) => formatCount(progress.moved), isNumber: true },
  { label: 'Skipped', cell: ({ progress }) => formatCount(progress.skipped), isNumber: true },
  {
    label: 'Actions',
    cell: (move) => (
      <Group gap="xs">
        {steps[move.status].map((step) => (
          <MoveStep key={step} move={move} step={step} />
        ))}
      </Group>
    ),
  },
]

import { Button, MultiSelect, NativeSelect, Paper, Switch, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState, type ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { addDays, dayIn } from '../formats/days.ts'
import { Boundary } from '../parts/boundary.tsx'
import { useApi } from '../session/environment-api.tsx'
import { DimensionFilter } from './dimension-filter.tsx'
import styles from './explorer-controls.module.css'
import {
  granularities,
  groupings,
  outcomes,
  ranges,
  tops,
  type ExplorerSearch,
} from './explorer-search.ts'

type Props = {
  readonly search: ExplorerSearch
  readonly onChange: (next: ExplorerSearch) => void
}

type Meter = Answer<'listMeters'>['meters'][number]

/** Usage of other aggregations cannot be added up. */
const additive = new Set<Meter['aggregation']>(['sum', 'count'])

const typingDelayMs = 400

/** Shows the query as fields, and changes it. */
export function ExplorerControls(props: Props): ReactElement {
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Query">
      <Boundary>
        <Controls {...props} />
      </Boundary>
    </Paper>
  )
}

type Set = (changed: {
  readonly [Name in keyof ExplorerSearch]?: ExplorerSearch[Name] | undefined
}) => void

function Controls({ search, onChange }: Props): ReactElement {
  const { hooks } = useApi()
  const { data } = hooks.useSuspenseQuery('get', '/v1/ui/meters', {})
  const meters = data.meters.filter(({ aggregation }) => additive.has(aggregation))
  const chosen = meters.filter(({ reference, name }) =>
    search.meters === undefined ? name === 'requests' : search.meters.includes(reference),
  )
  const dimensions = sharedDimensions(chosen)
  const set: Set = (changed) => {
    const next = Object.entries({ ...search, ...changed }).filter(
      ([, value]) => value !== undefined,
    )
    onChange({ zone: search.zone, ...Object.fromEntries(next) })
  }
  return (
    <div className={styles['controls']}>
      <MultiSelect
        label="Meters"
        data={meters.map(({ reference, name }) => ({ value: reference, label: name }))}
        value={chosen.map(({ reference }) => reference)}
        onChange={(references) => {
          set({ meters: references.length === 0 ? undefined : references })
        }}
        maxValues={10}
        searchable
      />
      <RangeControls search={search} set={set} />
      <GroupControls search={search} dimensions={dimensions} set={set} />
      <FilterControls search={search} dimensions={dimensions} set={set} />
      <Switch
        label="Compare with the time before"
        checked={search.compare ?? false}
        onChange={(event) => {
          set({ compare: event.currentTarget.checked ? true : undefined })
        }}
        pb={8}
      />
      <Button
        variant="default"
        onClick={() => {
          onChange({ zone: search.zone })
        }}
      >
        Start over
      </Button>
    </div>
  )
}

type PartProps = {
  readonly search: ExplorerSearch
  readonly dimensions: readonly string[]
  readonly set: Set
}

function GroupControls({ search, dimensions, set }: PartProps): ReactElement {
  const { by = 'day', group, dimension = '', top = 10 } = search
  return (
    <>
      <NativeSelect
        label="By"
        value={by}
        onChange={(event) => {
          set({ by: granularities.find((each) => each === event.currentTarget.value) })
        }}
        data={[...granularities]}
      />
      <NativeSelect
        label="Group by"
        value={group === 'dimension' ? `dimension ${dimension}` : (group ?? '')}
        onChange={(event) => {
          const { value } = event.currentTarget
          const next = dimensions.find((each) => value === `dimension ${each}`)
          const grouping = groupings.find((each) => each === value)
          set({ group: next === undefined ? grouping : 'dimension', dimension: next })
        }}
        data={[
          { value: '', label: 'Nothing' },
          ...groupings.filter((each) => each !== 'dimension'),
          ...dimensions.map((each) => ({ value: `dimension ${each}`, label: each })),
        ]}
      />
      {group !== undefined && (
        <NativeSelect
          label="Groups"
          value={String(top)}
          onChange={(event) => {
            set({ top: tops.find((each) => String(each) === event.currentTarget.value) })
          }}
          data={tops.map((each) => ({ value: String(each), label: `The largest ${each}` }))}
        />
      )}
    </>
  )
}

const references = [
  { name: 'customer', label: 'Customer' },
  { name: 'product', label: 'Product' },
  { name: 'purchase', label: 'Purchase' },
] as const

function FilterControls({ search, dimensions, set }: PartProps): ReactElement {
  return (
    <>
      <NativeSelect
        label="Outcome"
        value={search.outcome ?? 'success'}
        onChange={(event) => {
          set({ outcome: outcomes.find((each) => each === event.currentTarget.value) })
        }}
        data={[
          { value: 'success', label: 'Counts for limits and bills' },
          { value: 'paywall', label: 'Refused by a limit' },
          { value: 'fail', label: 'Failed' },
          { value: 'all', label: 'All' },
        ]}
      />
      {references.map(({ name, label }) => (
        <Reference
          key={name}
          label={label}
          value={search[name]}
          onChange={(reference) => {
            set({ [name]: reference })
          }}
        />
      ))}
      {dimensions.length > 0 && (
        <DimensionFilter
          dimensions={dimensions}
          filter={search.filter}
          onChange={(filter) => {
            set({ filter })
          }}
        />
      )}
    </>
  )
}

/** Returns the dimensions that all meters declare. A query refuses others. */
function sharedDimensions(meters: readonly Meter[]): readonly string[] {
  const [first, ...rest] = meters
  return (first?.dimensions ?? []).filter((each) =>
    rest.every(({ dimensions = [] }) => dimensions.includes(each)),
  )
}

const rangeLabels: Readonly<Record<string, string>> = {
  1: 'Today',
  7: 'The last 7 days',
  30: 'The last 30 days',
  90: 'The last 90 days',
}

function RangeControls(props: {
  readonly search: ExplorerSearch
  readonly set: (changed: {
    readonly [Name in 'last' | 'from' | 'to']: ExplorerSearch[Name] | undefined
  }) => void
}): ReactElement {
  const { search, set } = props
  const { zone, last = 30, from, to } = search
  return (
    <>
      <NativeSelect
        label="Time"
        value={from === undefined ? String(last) : 'days'}
        onChange={(event) => {
          const next = ranges.find((each) => String(each) === event.currentTarget.value)
          const today = dayIn(zone, Date.now())
          set(
            next === undefined
              ? { last: undefined, from: addDays(today, 1 - last), to: today }
              : { last: next, from: undefined, to: undefined },
          )
        }}
        data={[
          ...ranges.map((each) => ({ value: String(each), label: rangeLabels[each]! })),
          { value: 'days', label: 'From a day to a day' },
        ]}
      />
      {from !== undefined && to !== undefined && (
        <>
          <Day
            label="From"
            value={from}
            isInRange={(day) => day <= to}
            onChange={(day) => {
              set({ last: undefined, from: day, to: day > to ? day : to })
            }}
          />
          <Day
            label="To, this day included"
            value={to}
            isInRange={(day) => day >= from}
            onChange={(day) => {
              set({ last: undefined, from: day < from ? day : from, to: day })
            }}
          />
        </>
      )}
    </>
  )
}

/**
 * One end of the range. While a year is typed, the field has years such as 0002. So a day beyond the other end moves that end only when
 * the user leaves the field. A day between the ends applies after a pause.
 */
function Day(props: {
  readonly label: string
  readonly value: string
  readonly isInRange: (day: string) => boolean
  readonly onChange: (day: string) => void
}): ReactElement {
  const { label, value, isInRange, onChange } = props
  const [typed, setTyped] = useState<string>()
  const apply = useDebouncedCallback((day: string) => {
    if (day !== '' && isInRange(day)) onChange(day)
  }, typingDelayMs)
  return (
    <TextInput
      label={label}
      type="date"
      value={typed ?? value}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        apply(event.currentTarget.value)
      }}
      onBlur={() => {
        apply.cancel()
        if (typed !== undefined && typed !== '' && typed !== value) onChange(typed)
        setTyped(undefined)
      }}
    />
  )
}

/** A reference that is typed or pasted. It applies after a pause, so that a query is not sent for each letter. */
function Reference(props: {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (reference: string | undefined) => void
}): ReactElement {
  const { label, value = '', onChange } = props
  const [typed, setTyped] = useState<string>()
  const apply = useDebouncedCallback((text: string) => {
    onChange(text.trim() === '' ? undefined : text.trim())
    setTyped(undefined)
  }, typingDelayMs)
  return (
    <TextInput
      label={label}
      placeholder="Any"
      value={typed ?? value}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        apply(event.currentTarget.value)
      }}
    />
  )
}

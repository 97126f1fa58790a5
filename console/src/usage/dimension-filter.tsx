import { NativeSelect, TagsInput } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import type { ExplorerSearch } from './explorer-search.ts'

type Filter = ExplorerSearch['filter']

/** Chooses a dimension and the values that usage must have in it. */
export function DimensionFilter(props: {
  readonly dimensions: readonly string[]
  readonly filter: Filter
  readonly onChange: (filter: Filter) => void
}): ReactElement {
  const { dimensions, filter = {}, onChange } = props
  const [chosen, choose] = useState<string>()
  const dimension = chosen ?? Object.keys(filter)[0] ?? dimensions[0] ?? ''
  return (
    <>
      <NativeSelect
        label="Filter by"
        value={dimension}
        onChange={(event) => {
          choose(event.currentTarget.value)
        }}
        data={dimensions.map((value) => ({
          value,
          label: value in filter ? `${value} (${filter[value]?.length ?? 0})` : value,
        }))}
      />
      <TagsInput
        label={`Values of ${dimension}`}
        placeholder="Type a value, then Enter"
        value={[...(filter[dimension] ?? [])]}
        onChange={(values) => {
          const { [dimension]: _, ...others } = filter
          const next = values.length === 0 ? others : { ...others, [dimension]: values }
          onChange(Object.keys(next).length === 0 ? undefined : next)
        }}
      />
    </>
  )
}

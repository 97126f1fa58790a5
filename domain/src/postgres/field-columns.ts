/** The column of each field of an object. */
type FieldColumns<Fields> = { readonly [Field in keyof Fields]-?: string }

/** Returns the row of a change, by column. Fields that are undefined stay as they are and are left out. */
export function changedColumns<Fields>(
  columns: FieldColumns<Fields>,
  change: { readonly [Field in keyof Fields]?: Fields[Field] | undefined },
): Record<string, Fields[keyof Fields]> {
  const fields = Object.keys(columns) as (keyof Fields)[]
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = change[field]
      return value === undefined ? [] : [[columns[field], value]]
    }),
  )
}

/** Returns the object of a row. Each column must have the type of its field. */
export function fromColumns<Fields>(
  columns: FieldColumns<Fields>,
  row: Readonly<Record<string, unknown>>,
): Fields {
  const fields = Object.keys(columns) as (keyof Fields)[]
  return Object.fromEntries(fields.map((field) => [field, row[columns[field]]])) as Fields
}

import type { ReactElement, ReactNode } from 'react'
import styles from './rows-table.module.css'

export type Column<Row> = {
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  /** Whether the column has numbers, which stand below each other. */
  readonly isNumber?: boolean
}

/** Shows a table, which becomes a list on a phone. With the roles, it remains a table for screen readers. */
export function RowsTable<Row>(props: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}): ReactElement {
  const { label, columns, rows, keyOf } = props
  return (
    <table className={styles['table']} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.label} role="columnheader" scope="col" className={classOf(column)}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map((column) => (
              <td
                key={column.label}
                role="cell"
                data-label={column.label}
                className={classOf(column)}
              >
                <div>{column.cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function classOf({ isNumber = false }: { readonly isNumber?: boolean }): string | undefined {
  return isNumber ? styles['right'] : undefined
}

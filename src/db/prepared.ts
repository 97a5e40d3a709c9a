/**
 * A query that is built once for each database it is asked of, for the few that are asked at every check: building one anew takes longer
 * than running it. What differs between two askings are `sql.placeholder` values, which are given as the column stores them.
 *
 * The reader and the writer of a file database last as long as it is open; a remote server's transaction is a new one each time, and
 * so are its queries.
 */
export function preparedFor<D extends object, Q>(build: (db: D) => Q): (db: D) => Q {
  const known = new WeakMap<D, Q>();
  return (db) => {
    const found = known.get(db);
    if (found !== undefined) return found;
    const query = build(db);
    known.set(db, query);
    return query;
  };
}

/**
 * Builds a query once per database, for the few queries of every check: building takes longer than running. Values that vary are
 * `sql.placeholder`s, given in stored form.
 *
 * Reader and writer of a file database live as long as it is open; a remote server's transaction is new each time, and so are its queries.
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

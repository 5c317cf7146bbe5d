/** What a person looks at: kept in the page's address, so that a reload and a colleague find it again. */
export interface Place {
  /** Of the filter. */
  readonly name?: string;
  readonly query?: string;
  /** The first frame of the page, from 0. */
  readonly from?: number;
  /** The row in the large view, by its number in the manifest. */
  readonly row?: number | undefined;
}

export interface PageAddress {
  read(): Place;
  set(place: Place): void;
}

/** The place behind the `#` of the address. */
export function openAddress(): PageAddress {
  const read = (): Place => {
    const words = new URLSearchParams(location.hash.slice(1));
    const number = (name: string): number | undefined =>
      /^\d{1,9}$/.test(words.get(name) ?? '') ? Number(words.get(name)) : undefined;
    const [name, query, from, row] = [words.get('show'), words.get('find'), number('from'), number('row')];
    return {
      ...(name !== null && name !== '' && { name }),
      ...(query !== null && { query }),
      ...(from !== undefined && { from }),
      ...(row !== undefined && { row }),
    };
  };
  return {
    read,
    set(place) {
      const { name, query, from, row } = { ...read(), ...place };
      const words = new URLSearchParams();
      if (name !== undefined) words.set('show', name);
      if (query !== undefined && query !== '') words.set('find', query);
      if (from !== undefined && from > 0) words.set('from', String(from));
      if (row !== undefined) words.set('row', String(row));
      // Not a step back in the browser's history.
      history.replaceState(null, '', `#${words.toString()}`);
    },
  };
}

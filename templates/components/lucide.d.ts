// The package only types its index, which loads every icon; single files have no declaration.
declare module "lucide-static/dist/esm/icons/*.mjs" {
  const svg: string;
  export = svg;
}

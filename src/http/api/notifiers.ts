import { listQuery } from "../../forms/page.ts";
import {
  DeliveryView,
  deliveryList,
  EventView,
  NotifierInput,
  NotifierPatch,
  NotifierView,
  notifierList,
} from "../../notifications/schema.ts";
import { EventQuery } from "../../notifications/service.ts";
import type { Services } from "../../services.ts";
import { pageOf } from "../openapi.ts";
import { resourceRoutes } from "./resource.ts";
import { type Route, routesOf } from "./route.ts";

export function notifierRoutes({ notifications }: Pick<Services, "notifications">): readonly Route[] {
  const tag = "notifiers";
  const route = routesOf(tag);
  return [
    ...resourceRoutes({
      path: "/notifiers",
      tag,
      name: "notifier",
      service: notifications,
      view: NotifierView,
      list: { summary: "List notifiers by name, with their last delivery", query: listQuery(notifierList) },
      create: { summary: "Add a notifier", body: NotifierInput, event: "notifier_created" },
      get: { summary: "Get a notifier, with only the host and port of its URL" },
      update: { summary: "Change a notifier; omitted fields and blank secrets are unchanged", body: NotifierPatch },
      remove: { summary: "Delete a notifier with its deliveries" },
    }),
    route("GET", "/notifiers/{id}/deliveries", {
      operation_id: "list_deliveries",
      summary: "List a notifier's deliveries with their attempts, newest first",
      query: listQuery(deliveryList),
      answer: { status: 200, description: "A page of deliveries", schema: pageOf(DeliveryView) },
      perform: ({ param, query }) => notifications.deliveriesOf(param("id")).list(query),
    }),
    route("POST", "/notifiers/{id}/deliveries", {
      operation_id: "send_test",
      summary: "Send a test message now and return its result",
      answer: { status: 201, description: "The delivery with its only attempt", schema: DeliveryView },
      idempotent: { events: ["notifier_tested"], again: null },
      perform: ({ context, param }) =>
        notifications.sendTest(context.get("actor"), param("id"), context.req.raw.signal),
    }),
    route("GET", "/events", {
      operation_id: "list_events",
      summary: "List events, newest first",
      tag: "events",
      query: EventQuery,
      answer: { status: 200, description: "A page of events", schema: pageOf(EventView) },
      perform: ({ query }) => notifications.listEvents(query),
    }),
  ];
}

// API server, controller manager, scheduler and kubelet in one binary, chosen by the first argument: one link instead of four.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	roles := map[string]func() *cobra.Command{
		"apiserver":   func() *cobra.Command { return apiserver.NewAPIServerCommand() },
		"controllers": func() *cobra.Command { return controllers.NewControllerManagerCommand() },
		"scheduler":   func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kubelet":     func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	}
	if len(os.Args) > 1 {
		if role, known := roles[os.Args[1]]; known {
			os.Args = os.Args[1:]
			os.Exit(cli.Run(role()))
		}
	}
	os.Stderr.WriteString("usage: kubernetes apiserver|controllers|scheduler|kubelet ...\n")
	os.Exit(2)
}
